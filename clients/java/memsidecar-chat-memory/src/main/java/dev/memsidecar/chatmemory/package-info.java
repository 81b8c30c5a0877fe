/**
 * Common code of adapters whose framework passes its whole window of messages each time:
 * {@link dev.memsidecar.chatmemory.ChatWindow} stores the new messages.
 */
package dev.memsidecar.chatmemory;
