/** Agents with a memory. Their models are pretended, so that they run offline. */
package dev.memsidecar.examples;
