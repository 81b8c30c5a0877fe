/** LangChain4j's chat memory in a sidecar: {@link dev.memsidecar.langchain4j.MemsidecarChatMemoryStore}. */
package dev.memsidecar.langchain4j;
