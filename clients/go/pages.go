package memsidecar

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

// Messages goes through all pages of [Client.GetAll]: the messages of a session, oldest first.
func (c *Client) Messages(ctx context.Context, request *pb.GetAllRequest) iter.Seq2[*pb.Message, error] {
	return items(ctx, request, c.GetAll, (*pb.GetAllResponse).GetMessages, func(next *pb.GetAllRequest, token string) {
		next.PageToken = token
	})
}

// Hits goes through all pages of [Client.Search]: the messages that were found, best first.
func (c *Client) Hits(ctx context.Context, request *pb.SearchRequest) iter.Seq2[*pb.SearchHit, error] {
	return items(ctx, request, c.Search, (*pb.SearchResponse).GetHits, func(next *pb.SearchRequest, token string) {
		next.PageToken = token
	})
}

// Sessions goes through all pages of [Client.ListSessions], newest activity first.
func (c *Client) Sessions(ctx context.Context, request *pb.ListSessionsRequest) iter.Seq2[*pb.Session, error] {
	return items(ctx, request, c.ListSessions, (*pb.ListSessionsResponse).GetSessions,
		func(next *pb.ListSessionsRequest, token string) { next.PageToken = token })
}

// Users goes through all pages of [Client.ListUsers], in the order of their ids.
func (c *Client) Users(ctx context.Context, request *pb.ListUsersRequest) iter.Seq2[*pb.User, error] {
	return items(ctx, request, c.ListUsers, (*pb.ListUsersResponse).GetUsers,
		func(next *pb.ListUsersRequest, token string) { next.PageToken = token })
}

// Facts goes through all pages of [Client.ListFacts], most confident first.
func (c *Client) Facts(ctx context.Context, request *pb.ListFactsRequest) iter.Seq2[*pb.Fact, error] {
	return items(ctx, request, c.ListFacts, (*pb.ListFactsResponse).GetFacts,
		func(next *pb.ListFactsRequest, token string) { next.PageToken = token })
}

// Artifacts goes through all pages of [Client.ListArtifacts], newest first.
func (c *Client) Artifacts(ctx context.Context, request *pb.ListArtifactsRequest) iter.Seq2[*pb.Artifact, error] {
	return items(ctx, request, c.ListArtifacts, (*pb.ListArtifactsResponse).GetArtifacts,
		func(next *pb.ListArtifactsRequest, token string) { next.PageToken = token })
}

// Documents goes through all pages of [Client.ListDocuments], in the order of their ids.
func (c *Client) Documents(ctx context.Context, request *pb.ListDocumentsRequest) iter.Seq2[*pb.Document, error] {
	return items(ctx, request, c.ListDocuments, (*pb.ListDocumentsResponse).GetDocuments,
		func(next *pb.ListDocumentsRequest, token string) { next.PageToken = token })
}

// items goes through pages, one call for each. An error ends it, and stands beside no item.
func items[Request proto.Message, Page interface{ GetNextPageToken() string }, Item any](
	ctx context.Context,
	request Request,
	get func(context.Context, Request) (Page, error),
	itemsOf func(Page) []Item,
	setToken func(Request, string),
) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		next := proto.CloneOf(request)
		for {
			page, err := get(ctx, next)
			if err != nil {
				var none Item
				yield(none, err)
				return
			}
			for _, item := range itemsOf(page) {
				if !yield(item, nil) {
					return
				}
			}
			if page.GetNextPageToken() == "" {
				return
			}
			setToken(next, page.GetNextPageToken())
		}
	}
}
