/**
 * What adapters have in common whose framework hands over its whole window of messages each time:
 * {@link dev.memsidecar.chatmemory.ChatWindow} stores what is new in it.
 */
package dev.memsidecar.chatmemory;
