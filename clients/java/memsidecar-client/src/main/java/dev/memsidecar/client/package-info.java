/**
 * A client of memsidecar, the memory of an LLM agent as a process beside it:
 * {@link dev.memsidecar.client.MemsidecarClient} for threads that wait,
 * {@link dev.memsidecar.client.AsyncMemsidecarClient} for futures. Requests and answers are the messages of the
 * contract, errors are below {@link dev.memsidecar.client.MemsidecarException}.
 */
package dev.memsidecar.client;
