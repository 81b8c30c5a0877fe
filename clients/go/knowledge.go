package memsidecar

import (
	"context"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

// PutFacts stores facts about a user, all or nothing. One with the key of a current fact and another value supersedes
// it; the old one stays in the history.
func (c *Client) PutFacts(ctx context.Context, request *pb.PutFactsRequest) (*pb.PutFactsResponse, error) {
	return call(ctx, c, c.knowledge.PutFacts, request)
}

// ListFacts reads one page of the current facts of a user, most confident first. [Client.Facts] goes through all of
// them.
func (c *Client) ListFacts(ctx context.Context, request *pb.ListFactsRequest) (*pb.ListFactsResponse, error) {
	return call(ctx, c, c.knowledge.ListFacts, request)
}

// DeleteFact erases one fact, current or superseded. It ends with [ErrNotFound] when the user has none with this id.
func (c *Client) DeleteFact(ctx context.Context, request *pb.DeleteFactRequest) (*pb.DeleteFactResponse, error) {
	return call(ctx, c, c.knowledge.DeleteFact, request)
}

// PutArtifact stores a compact result of a tool, or moves a large one out of the window (OffloadMessageId). An artifact
// without an id gets one, which the answer tells.
func (c *Client) PutArtifact(ctx context.Context, request *pb.PutArtifactRequest) (*pb.PutArtifactResponse, error) {
	return call(ctx, c, c.knowledge.PutArtifact, identifiedArtifact(request))
}

// ListArtifacts reads one page of the artifacts of a session, newest first. [Client.Artifacts] goes through all of
// them.
func (c *Client) ListArtifacts(
	ctx context.Context, request *pb.ListArtifactsRequest,
) (*pb.ListArtifactsResponse, error) {
	return call(ctx, c, c.knowledge.ListArtifacts, request)
}

// DeleteArtifact erases one artifact. It ends with [ErrNotFound] when the session has none with this id.
func (c *Client) DeleteArtifact(
	ctx context.Context, request *pb.DeleteArtifactRequest,
) (*pb.DeleteArtifactResponse, error) {
	return call(ctx, c, c.knowledge.DeleteArtifact, request)
}

// PutDocument stores a document and its chunks; every later search finds them. The same id again replaces it, and the
// same document again does nothing (Unchanged).
func (c *Client) PutDocument(ctx context.Context, request *pb.PutDocumentRequest) (*pb.PutDocumentResponse, error) {
	return call(ctx, c, c.knowledge.PutDocument, request)
}

// ListDocuments reads one page of the documents of the namespace, a user or a session, without their text, in the order
// of their ids. [Client.Documents] goes through all of them.
func (c *Client) ListDocuments(
	ctx context.Context, request *pb.ListDocumentsRequest,
) (*pb.ListDocumentsResponse, error) {
	return call(ctx, c, c.knowledge.ListDocuments, request)
}

// DeleteDocument erases a document and its chunks. It ends with [ErrNotFound] when there is none with this id.
func (c *Client) DeleteDocument(
	ctx context.Context, request *pb.DeleteDocumentRequest,
) (*pb.DeleteDocumentResponse, error) {
	return call(ctx, c, c.knowledge.DeleteDocument, request)
}

// SearchDocuments finds chunks of the documents that the caller may see, best first.
func (c *Client) SearchDocuments(
	ctx context.Context, request *pb.SearchDocumentsRequest,
) (*pb.SearchDocumentsResponse, error) {
	return call(ctx, c, c.knowledge.SearchDocuments, request)
}

// GetSummary reads the rolling summary of a session, as it is. The answer is without Summary where there is none yet.
func (c *Client) GetSummary(ctx context.Context, request *pb.GetSummaryRequest) (*pb.GetSummaryResponse, error) {
	return call(ctx, c, c.knowledge.GetSummary, request)
}

// Summarize brings the rolling summary of a session up to now, and answers it. The answer is without Summary where
// there is nothing to summarise.
func (c *Client) Summarize(ctx context.Context, request *pb.SummarizeRequest) (*pb.SummarizeResponse, error) {
	return call(ctx, c, c.knowledge.Summarize, request)
}

// GetPatterns reads what recurs in a user's conversations, computed anew with Refresh.
func (c *Client) GetPatterns(ctx context.Context, request *pb.GetPatternsRequest) (*pb.GetPatternsResponse, error) {
	return call(ctx, c, c.knowledge.GetPatterns, request)
}
