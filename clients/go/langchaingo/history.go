package langchaingo

import (
	"context"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"

	memsidecar "github.com/memsidecar/memsidecar/clients/go"
	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

// ChatMessageHistory is one session of a sidecar, as langchaingo sees a history. Any number of goroutines may share it.
//
// Nothing that a message has is lost. A few things have no field in the contract (the role of a generic message, that a
// text is empty): they are kept in the metadata, under "langchaingo".
//
// After an error, what was added may have been stored. Add the same again, to the same history: it keeps the ids that it
// got at first, so it is not stored twice. The same is what has the same content; so who goes on without it, and says
// the same much later, is taken to add it again.
type ChatMessageHistory struct {
	client     *memsidecar.Client
	namespace  string
	userID     string
	sessionID  string
	unanswered failedAdds
}

var _ schema.ChatMessageHistory = (*ChatMessageHistory)(nil)

// Option says more about a history.
type Option func(*ChatMessageHistory)

// WithUser sets the owner of the session. Without it the session has no owner, and facts belong to the session.
func WithUser(id string) Option {
	return func(h *ChatMessageHistory) { h.userID = id }
}

// WithNamespace says where the session lives. Without it in "default".
func WithNamespace(namespace string) Option {
	return func(h *ChatMessageHistory) { h.namespace = namespace }
}

// NewChatMessageHistory is the history of a session, which comes into being with its first message. The client stays
// the caller's, to share and to close.
func NewChatMessageHistory(client *memsidecar.Client, sessionID string, options ...Option) *ChatMessageHistory {
	history := &ChatMessageHistory{client: client, sessionID: sessionID}
	for _, option := range options {
		option(history)
	}
	return history
}

// AddMessage appends a message. When it returns, the message is on disk. It is refused with
// llms.ErrUnexpectedChatMessageType where it is none of langchaingo's own types.
func (h *ChatMessageHistory) AddMessage(ctx context.Context, message llms.ChatMessage) error {
	return h.add(ctx, message)
}

// AddUserMessage appends something that the user said.
func (h *ChatMessageHistory) AddUserMessage(ctx context.Context, message string) error {
	return h.add(ctx, llms.HumanChatMessage{Content: message})
}

// AddAIMessage appends something that the model said.
func (h *ChatMessageHistory) AddAIMessage(ctx context.Context, message string) error {
	return h.add(ctx, llms.AIChatMessage{Content: message})
}

// Messages reads the window of the session, oldest first. What was pruned is not in it, and is still found by searches
// and contexts.
func (h *ChatMessageHistory) Messages(ctx context.Context) ([]llms.ChatMessage, error) {
	messages := []llms.ChatMessage{}
	request := &pb.GetAllRequest{
		Namespace: h.namespace, UserId: h.userID, SessionId: h.sessionID, PageSize: 1_000,
	}
	for message, err := range h.client.Messages(ctx, request) {
		if err != nil {
			return nil, err
		}
		messages = append(messages, fromContract(message))
	}
	return messages, nil
}

// Clear erases all messages of the session, for good. Where the sidecar has roles, it takes the admin's.
func (h *ChatMessageHistory) Clear(ctx context.Context) error {
	_, err := h.client.Clear(ctx, &pb.ClearRequest{
		Namespace: h.namespace, UserId: h.userID, SessionId: h.sessionID,
	})
	if err == nil {
		h.unanswered.forget()
	}
	return err
}

// SetMessages erases all messages of the session, as Clear does, and appends these. It is two steps: a process that
// ends between them has erased and not appended. After an error, set them again.
//
// memory.ConversationTokenBuffer shortens a history in this way, message by message. Let the sidecar keep it short
// (SetPolicy of the client), and nothing has to be erased.
func (h *ChatMessageHistory) SetMessages(ctx context.Context, messages []llms.ChatMessage) error {
	converted, err := allToContract(messages)
	if err != nil {
		return err
	}
	if err := h.Clear(ctx); err != nil {
		return err
	}
	requests := func(yield func(*pb.AddStreamRequest) bool) {
		for _, message := range converted {
			if !yield(&pb.AddStreamRequest{
				Namespace: h.namespace, UserId: h.userID, SessionId: h.sessionID, Message: message,
			}) {
				return
			}
		}
	}
	for _, err := range h.client.AddStream(ctx, requests) {
		if err != nil {
			return err
		}
	}
	return nil
}

// add appends messages, all or nothing.
func (h *ChatMessageHistory) add(ctx context.Context, messages ...llms.ChatMessage) error {
	return h.addMade(ctx, func(func() string) []llms.ChatMessage { return messages })
}

// addMade appends messages that need ids inside of them. They are made twice: to see whether they are those of an add
// that failed, and with the ids that they have in that case.
func (h *ChatMessageHistory) addMade(ctx context.Context, made func(newID func() string) []llms.ChatMessage) error {
	nameless, err := allToContract(made(func() string { return "" }))
	if err != nil {
		return err
	}
	sum := sumOf(nameless)
	ids := idSequence{ids: h.unanswered.take(sum)}
	messages, err := allToContract(made(ids.id))
	if err != nil {
		return err
	}
	for _, message := range messages {
		message.Id = ids.id()
	}
	_, err = h.client.AddBatch(ctx, &pb.AddBatchRequest{
		Namespace: h.namespace, UserId: h.userID, SessionId: h.sessionID, Messages: messages,
	})
	if err != nil {
		h.unanswered.keep(sum, ids.ids)
	}
	return err
}
