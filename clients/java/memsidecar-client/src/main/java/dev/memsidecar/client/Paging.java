package dev.memsidecar.client;

import dev.memsidecar.v1.Artifact;
import dev.memsidecar.v1.Document;
import dev.memsidecar.v1.Fact;
import dev.memsidecar.v1.GetAllRequest;
import dev.memsidecar.v1.GetAllResponse;
import dev.memsidecar.v1.KnowledgeServiceGrpc;
import dev.memsidecar.v1.ListArtifactsRequest;
import dev.memsidecar.v1.ListArtifactsResponse;
import dev.memsidecar.v1.ListDocumentsRequest;
import dev.memsidecar.v1.ListDocumentsResponse;
import dev.memsidecar.v1.ListFactsRequest;
import dev.memsidecar.v1.ListFactsResponse;
import dev.memsidecar.v1.ListSessionsRequest;
import dev.memsidecar.v1.ListSessionsResponse;
import dev.memsidecar.v1.ListUsersRequest;
import dev.memsidecar.v1.ListUsersResponse;
import dev.memsidecar.v1.MemoryServiceGrpc;
import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.SearchHit;
import dev.memsidecar.v1.SearchRequest;
import dev.memsidecar.v1.SearchResponse;
import dev.memsidecar.v1.Session;
import dev.memsidecar.v1.SessionServiceGrpc;
import dev.memsidecar.v1.User;
import io.grpc.MethodDescriptor;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * The paging of one RPC.
 *
 * @param method the RPC
 * @param at the request for the page of a token
 * @param items the items of a page
 * @param next the token of the next page; empty if there is none
 */
record Paging<Q, A, T>(
        MethodDescriptor<Q, A> method,
        BiFunction<Q, String, Q> at,
        Function<A, List<T>> items,
        Function<A, String> next) {

    static final Paging<GetAllRequest, GetAllResponse, Message> MESSAGES = new Paging<>(
            MemoryServiceGrpc.getGetAllMethod(),
            (request, token) -> request.toBuilder().setPageToken(token).build(),
            GetAllResponse::getMessagesList,
            GetAllResponse::getNextPageToken);

    static final Paging<SearchRequest, SearchResponse, SearchHit> HITS = new Paging<>(
            MemoryServiceGrpc.getSearchMethod(),
            (request, token) -> request.toBuilder().setPageToken(token).build(),
            SearchResponse::getHitsList,
            SearchResponse::getNextPageToken);

    static final Paging<ListSessionsRequest, ListSessionsResponse, Session> SESSIONS = new Paging<>(
            SessionServiceGrpc.getListSessionsMethod(),
            (request, token) -> request.toBuilder().setPageToken(token).build(),
            ListSessionsResponse::getSessionsList,
            ListSessionsResponse::getNextPageToken);

    static final Paging<ListUsersRequest, ListUsersResponse, User> USERS = new Paging<>(
            SessionServiceGrpc.getListUsersMethod(),
            (request, token) -> request.toBuilder().setPageToken(token).build(),
            ListUsersResponse::getUsersList,
            ListUsersResponse::getNextPageToken);

    static final Paging<ListFactsRequest, ListFactsResponse, Fact> FACTS = new Paging<>(
            KnowledgeServiceGrpc.getListFactsMethod(),
            (request, token) -> request.toBuilder().setPageToken(token).build(),
            ListFactsResponse::getFactsList,
            ListFactsResponse::getNextPageToken);

    static final Paging<ListArtifactsRequest, ListArtifactsResponse, Artifact> ARTIFACTS = new Paging<>(
            KnowledgeServiceGrpc.getListArtifactsMethod(),
            (request, token) -> request.toBuilder().setPageToken(token).build(),
            ListArtifactsResponse::getArtifactsList,
            ListArtifactsResponse::getNextPageToken);

    static final Paging<ListDocumentsRequest, ListDocumentsResponse, Document> DOCUMENTS = new Paging<>(
            KnowledgeServiceGrpc.getListDocumentsMethod(),
            (request, token) -> request.toBuilder().setPageToken(token).build(),
            ListDocumentsResponse::getDocumentsList,
            ListDocumentsResponse::getNextPageToken);
}
