/**
 * Messages of OpenAI and Anthropic, as maps and lists, to and from messages of the sidecar:
 * {@link dev.memsidecar.conversion.OpenAiMessages}, {@link dev.memsidecar.conversion.AnthropicMessages}. It needs no
 * library of a provider.
 *
 * <p>Parts that the sidecar cannot store, such as images, are stored as their type: {@code [image]}. A message without
 * text is stored as {@code [empty]}. A tool result that is an error has {@code is_error} in its metadata. Reasoning is
 * stored without signatures, and not sent.
 */
package dev.memsidecar.conversion;
