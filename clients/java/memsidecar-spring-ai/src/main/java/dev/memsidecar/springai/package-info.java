/** Spring AI's chat memory in a sidecar: {@link dev.memsidecar.springai.MemsidecarChatMemoryRepository}. */
package dev.memsidecar.springai;
