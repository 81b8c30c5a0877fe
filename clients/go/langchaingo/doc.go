// Package langchaingo keeps the conversations of langchaingo in memsidecar: durable, searchable, and with their calls
// of tools.
//
//   - [ChatMessageHistory] goes wherever langchaingo takes a history, such as memory.ConversationBuffer.
//   - [AgentMemory] is the memory of an agents.Executor. Beside what is said it keeps the calls of tools and their
//     results, which a ConversationBuffer leaves out.
//   - [Contents] converts the response of BuildContext into messages for an llms.Model, for agents with their own loop.
package langchaingo
