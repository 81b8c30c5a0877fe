// Package langchaingo keeps the conversations of langchaingo in memsidecar: durable, searchable, and with their calls
// of tools.
//
//   - [ChatMessageHistory] goes wherever langchaingo takes a history, such as memory.ConversationBuffer.
//   - [AgentMemory] is the memory of an agents.Executor. Beside what is said it keeps the calls of tools and their
//     results, which a ConversationBuffer leaves out.
//   - [Contents] makes what BuildContext answers into what an llms.Model takes, for whoever writes the loop of an agent
//     themselves.
package langchaingo
