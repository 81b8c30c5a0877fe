/** Agents with a memory. Their models are fake, so that they run offline. */
package dev.memsidecar.examples;
