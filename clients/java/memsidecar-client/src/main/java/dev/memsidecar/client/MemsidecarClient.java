package dev.memsidecar.client;

import dev.memsidecar.v1.AddBatchRequest;
import dev.memsidecar.v1.AddBatchResponse;
import dev.memsidecar.v1.AddRequest;
import dev.memsidecar.v1.AddResponse;
import dev.memsidecar.v1.AddStreamRequest;
import dev.memsidecar.v1.AddStreamResponse;
import dev.memsidecar.v1.AnnotateRequest;
import dev.memsidecar.v1.AnnotateResponse;
import dev.memsidecar.v1.Artifact;
import dev.memsidecar.v1.BuildContextRequest;
import dev.memsidecar.v1.BuildContextResponse;
import dev.memsidecar.v1.ClearRequest;
import dev.memsidecar.v1.ClearResponse;
import dev.memsidecar.v1.CountRequest;
import dev.memsidecar.v1.CountResponse;
import dev.memsidecar.v1.DeleteArtifactRequest;
import dev.memsidecar.v1.DeleteArtifactResponse;
import dev.memsidecar.v1.DeleteDocumentRequest;
import dev.memsidecar.v1.DeleteDocumentResponse;
import dev.memsidecar.v1.DeleteFactRequest;
import dev.memsidecar.v1.DeleteFactResponse;
import dev.memsidecar.v1.DeleteSessionRequest;
import dev.memsidecar.v1.DeleteSessionResponse;
import dev.memsidecar.v1.Document;
import dev.memsidecar.v1.ExportRequest;
import dev.memsidecar.v1.ExportResponse;
import dev.memsidecar.v1.Fact;
import dev.memsidecar.v1.ForgetMessageRequest;
import dev.memsidecar.v1.ForgetMessageResponse;
import dev.memsidecar.v1.ForgetUserRequest;
import dev.memsidecar.v1.ForgetUserResponse;
import dev.memsidecar.v1.GetAllRequest;
import dev.memsidecar.v1.GetAllResponse;
import dev.memsidecar.v1.GetByRoleRequest;
import dev.memsidecar.v1.GetByRoleResponse;
import dev.memsidecar.v1.GetPatternsRequest;
import dev.memsidecar.v1.GetPatternsResponse;
import dev.memsidecar.v1.GetRecentRequest;
import dev.memsidecar.v1.GetRecentResponse;
import dev.memsidecar.v1.GetSessionRequest;
import dev.memsidecar.v1.GetSessionResponse;
import dev.memsidecar.v1.GetSummaryRequest;
import dev.memsidecar.v1.GetSummaryResponse;
import dev.memsidecar.v1.GetUsageRequest;
import dev.memsidecar.v1.GetUsageResponse;
import dev.memsidecar.v1.ImportRequest;
import dev.memsidecar.v1.ImportResponse;
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
import dev.memsidecar.v1.PruneRequest;
import dev.memsidecar.v1.PruneResponse;
import dev.memsidecar.v1.PutArtifactRequest;
import dev.memsidecar.v1.PutArtifactResponse;
import dev.memsidecar.v1.PutDocumentRequest;
import dev.memsidecar.v1.PutDocumentResponse;
import dev.memsidecar.v1.PutFactsRequest;
import dev.memsidecar.v1.PutFactsResponse;
import dev.memsidecar.v1.ReportUsageRequest;
import dev.memsidecar.v1.ReportUsageResponse;
import dev.memsidecar.v1.SearchDocumentsRequest;
import dev.memsidecar.v1.SearchDocumentsResponse;
import dev.memsidecar.v1.SearchHit;
import dev.memsidecar.v1.SearchRequest;
import dev.memsidecar.v1.SearchResponse;
import dev.memsidecar.v1.Session;
import dev.memsidecar.v1.SessionServiceGrpc;
import dev.memsidecar.v1.SetPolicyRequest;
import dev.memsidecar.v1.SetPolicyResponse;
import dev.memsidecar.v1.StoreInteractionRequest;
import dev.memsidecar.v1.StoreInteractionResponse;
import dev.memsidecar.v1.SummarizeRequest;
import dev.memsidecar.v1.SummarizeResponse;
import dev.memsidecar.v1.User;
import dev.memsidecar.v1.WatchRequest;
import dev.memsidecar.v1.WatchResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/**
 * Blocking client of a sidecar. Thread-safe: one client is enough for a process. It connects with the first call.
 *
 * <pre>{@code
 * try (MemsidecarClient memory = MemsidecarClient.create()) {
 *     memory.add("ana", "s1", Messages.user("I moved to Lisbon."));
 *     BuildContextResponse context = memory.buildContext("ana", "s2", "Where do I live?");
 * }
 * }</pre>
 *
 * <p>There is a method for each RPC of the contract. Each may throw a {@link MemsidecarException}, in the subclass of
 * its reason. A call that fails because the sidecar is unavailable is retried, with at most four attempts and within
 * its deadline. No retry stores a message twice, because each message has an id. {@link #reportUsage} has no
 * idempotency key: it is retried only if the sidecar rejected it. Interrupting a waiting thread cancels its call, with
 * {@link CancelledException}. A text that is not valid Unicode, for example cut inside an emoji, is rejected before the
 * call, with an {@link IllegalArgumentException} that names its field.
 */
public final class MemsidecarClient implements AutoCloseable {
    private final Connection connection;
    private final BlockingCalls calls;
    private final Duration timeout;
    private final Duration streamTimeout;

    private MemsidecarClient(Connection connection, int attempts, Duration timeout, Duration streamTimeout) {
        this.connection = connection;
        this.calls = new BlockingCalls(connection, attempts);
        this.timeout = timeout;
        this.streamTimeout = streamTimeout;
    }

    /**
     * Returns a client with the settings of the environment: {@code MEMSIDECAR_ADDRESS}, else 127.0.0.1:7600, and so
     * on, as with {@link Builder}.
     *
     * @return a client that is not connected yet
     */
    public static MemsidecarClient create() {
        return builder().build();
    }

    /**
     * Returns a builder for a client with explicit settings.
     *
     * @return a builder without settings
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns a new id for a message or another item: a UUIDv7, so that ids sort by time.
     *
     * @return a different id each time
     */
    public static String newId() {
        return Ids.newId();
    }

    /**
     * Returns an asynchronous view of this client. It shares the connection: closing either closes both.
     *
     * @return a view with the same deadline
     */
    public AsyncMemsidecarClient async() {
        return new AsyncMemsidecarClient(connection, calls.attempts(), timeout, streamTimeout);
    }

    /**
     * Returns a view of this client with another deadline, retries included. It also applies to streams, which
     * otherwise have no deadline. The view shares the connection: closing either closes both.
     *
     * @param deadline for each call, from when it is made. What is left of the caller's own time may be 0 or less: then
     *     calls end at once with {@link DeadlineExceededException}, and nothing is sent
     * @return a view; cheap enough for a single call
     */
    public MemsidecarClient withDeadline(Duration deadline) {
        Objects.requireNonNull(deadline, "deadline");
        return new MemsidecarClient(connection, calls.attempts(), deadline, deadline);
    }

    /**
     * Returns a view of this client without a deadline; the number of attempts stays limited. The view shares the
     * connection: closing either closes both.
     *
     * @return a view; cheap enough for a single call
     */
    public MemsidecarClient withoutDeadline() {
        return new MemsidecarClient(connection, calls.attempts(), null, null);
    }

    /**
     * Waits until the sidecar reports that it is serving.
     *
     * @param atMost the timeout
     * @throws DeadlineExceededException if the timeout passes
     */
    public void waitUntilReady(Duration atMost) {
        BlockingCalls.await(async().waitUntilReady(atMost));
    }

    /** Ends the connection; calls in progress end with {@link ClosedException}. To close again is harmless. */
    @Override
    public void close() {
        connection.close();
    }

    /**
     * Appends one message. When the call returns, the message is on disk, and every later read returns it.
     *
     * <p>Errors: INVALID_ARGUMENT for an invalid field; ALREADY_EXISTS (ID_CONFLICT) for an existing id with a
     * different body; ABORTED (SEQUENCE_MISMATCH) when {@code expected_sequence} does not match; RESOURCE_EXHAUSTED
     * (TOO_LARGE, DISK_FULL).
     *
     * @param request one message to append; the client generates missing ids
     * @return the acknowledgement of a durable message
     */
    public AddResponse add(AddRequest request) {
        return calls.call(MemoryServiceGrpc.getAddMethod(), Ids.identified(request), timeout);
    }

    /**
     * Appends one message. The short form of {@link #add(AddRequest)}.
     *
     * @param userId the owner of the session; may be empty
     * @param sessionId the session; the first message creates it
     * @param message the message, for example from {@link Messages}; the client generates a missing id
     * @return the acknowledgement of a durable message
     */
    public AddResponse add(String userId, String sessionId, Message message) {
        return add(AddRequest.newBuilder()
                .setUserId(Objects.requireNonNull(userId, "userId"))
                .setSessionId(Objects.requireNonNull(sessionId, "sessionId"))
                .setMessage(Objects.requireNonNull(message, "message"))
                .build());
    }

    /**
     * Appends messages of one session atomically, with one acknowledgement. Errors as with Add. After an error with a
     * reason no message of the batch is stored, unless an earlier attempt whose response was lost stored it.
     *
     * @param request messages of one session to append together; the client generates missing ids
     * @return the acknowledgement of the whole batch
     */
    public AddBatchResponse addBatch(AddBatchRequest request) {
        return calls.call(MemoryServiceGrpc.getAddBatchMethod(), Ids.identified(request), timeout);
    }

    /**
     * Appends messages in bulk. Sends one response per request, in order, each when its message is durable. An invalid
     * request ends the stream with its error; acknowledged messages stay stored. Requests of one stream may name
     * different sessions.
     *
     * <p>An interrupted stream resumes on a new connection with the unacknowledged messages and stores no message
     * twice. Its only deadline is that of {@link #withDeadline}.
     *
     * @param requests messages to append; the client generates missing ids. They are taken in a thread of its own, and
     *     may wait for answers
     * @return the acknowledgements, one for each message
     */
    public ResponseStream<AddStreamResponse> addStream(Iterable<? extends AddStreamRequest> requests) {
        return new ResponseStream<>(async().addStream(requests));
    }

    /**
     * Appends one user message and one assistant message as one turn, atomically. Idempotent by {@code interaction_id}.
     * Errors as with Add.
     *
     * @param request one user message and the assistant's reply; the client generates missing ids
     * @return the acknowledgement of both messages
     */
    public StoreInteractionResponse storeInteraction(StoreInteractionRequest request) {
        return calls.call(MemoryServiceGrpc.getStoreInteractionMethod(), Ids.identified(request), timeout);
    }

    /**
     * Sets the evaluation score and the metadata of a stored message. NOT_FOUND when the session has no such message.
     * Content, tokens and sequence do not change.
     *
     * @param request the score and metadata to set
     * @return the annotated message
     */
    public AnnotateResponse annotate(AnnotateRequest request) {
        return calls.call(MemoryServiceGrpc.getAnnotateMethod(), request, timeout);
    }

    /**
     * Reads a session page by page, oldest first.
     *
     * @param request selects the messages of a session
     * @return one page
     */
    public GetAllResponse getAll(GetAllRequest request) {
        return calls.call(MemoryServiceGrpc.getGetAllMethod(), request, timeout);
    }

    /**
     * All messages of a session, oldest first, through all pages of {@link #getAll}. The deadline is for each page.
     *
     * @param request selects the messages of a session; its page token is ignored
     * @return requests each page when its first item is needed
     */
    public Pages<Message> messages(GetAllRequest request) {
        return Pages.of(Paging.MESSAGES, request, page -> getAll(page));
    }

    /**
     * Reads the newest n messages of the window, oldest first.
     *
     * @param request selects the newest messages
     * @return the newest messages
     */
    public GetRecentResponse getRecent(GetRecentRequest request) {
        return calls.call(MemoryServiceGrpc.getGetRecentMethod(), request, timeout);
    }

    /**
     * Reads the messages of one role in the window, oldest first.
     *
     * @param request selects the role to read
     * @return the messages of the role
     */
    public GetByRoleResponse getByRole(GetByRoleRequest request) {
        return calls.call(MemoryServiceGrpc.getGetByRoleMethod(), request, timeout);
    }

    /**
     * Finds messages, best first: by substring, by keywords, by meaning, or by keywords and meaning together (mode).
     *
     * <p>A search sees every acknowledged message at once, pruned messages included, erased messages excluded. It
     * searches the content and the names and arguments of tool calls; in the substring mode, the content only; never
     * the reasoning. Only the request's own filters apply; there is no hidden threshold. For an unknown session the
     * result is empty. When the index or the embedder is unavailable, the search uses the remaining signals, and
     * {@code degraded} says so.
     *
     * <p>Pages are as of the first page: what was added since is neither in them nor moves anything from one to
     * another.
     *
     * <p>Errors: INVALID_ARGUMENT for an invalid field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH).
     *
     * @param request the query, the scope and the filters
     * @return one page of hits
     */
    public SearchResponse search(SearchRequest request) {
        return calls.call(MemoryServiceGrpc.getSearchMethod(), request, timeout);
    }

    /**
     * All messages that are found, best first, through all pages of {@link #search}. The deadline is for each page.
     *
     * @param request the query, the scope and the filters; its page token is ignored
     * @return requests each page when its first item is needed
     */
    public Pages<SearchHit> hits(SearchRequest request) {
        return Pages.of(Paging.HITS, request, page -> search(page));
    }

    /**
     * Counts messages and tokens.
     *
     * @param request selects the session to count
     * @return the figures of the session
     */
    public CountResponse count(CountRequest request) {
        return calls.call(MemoryServiceGrpc.getCountMethod(), request, timeout);
    }

    /**
     * Brings a session under a budget. Pruned messages leave the window, not the memory: Search and episodic retrieval
     * still find them. System messages stay, a tool call is never parted from its results, and the newest
     * {@code min_messages} stay even when that leaves the session over budget ({@code {@code over_budget}}).
     *
     * <p>Sent again after an answer that was lost, it may say that nothing was pruned: the first attempt did it.
     *
     * @param request the budget and the strategy
     * @return what was pruned, or in a dry run would be
     */
    public PruneResponse prune(PruneRequest request) {
        return calls.call(MemoryServiceGrpc.getPruneMethod(), request, timeout);
    }

    /**
     * Erases the session's messages and summary, from every layer. Facts stay, and sequence numbers continue. An
     * unknown session is answered with a {@code removed_count} of 0, and so is one that an attempt before emptied,
     * whose answer was lost.
     *
     * @param request selects the session to empty
     * @return how much was erased
     */
    public ClearResponse clear(ClearRequest request) {
        return calls.call(MemoryServiceGrpc.getClearMethod(), request, timeout);
    }

    /**
     * Builds the model's context within a token budget and returns a receipt for it. Does not change stored messages;
     * if the summary of a short conversation is due, it is made now rather than in the background. Results that cannot
     * be retrieved before the deadline, or because the index or the embedder is unavailable, are omitted, and
     * {@code degraded} says so.
     *
     * <p>Errors: INVALID_ARGUMENT for an invalid field; FAILED_PRECONDITION (BUDGET_TOO_SMALL, with
     * {@code required_tokens} and {@code item} in the metadata, when the mandatory parts do not fit;
     * SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a context of more than 4 MiB).
     *
     * @param request what the context is for, and how large it may be
     * @return what the model should see, and an account of it
     */
    public BuildContextResponse buildContext(BuildContextRequest request) {
        return calls.call(MemoryServiceGrpc.getBuildContextMethod(), request, timeout);
    }

    /**
     * Builds what the model should see when the user asks this. The short form of
     * {@link #buildContext(BuildContextRequest)}, with the question as the last message, and with what the sidecar
     * takes where nothing else is said.
     *
     * @param userId whose memory is asked; empty: only that of the session
     * @param sessionId which session; one that is not known gives a context from the rest
     * @param query the question, not stored yet
     * @return what the model should see, and an account of it
     */
    public BuildContextResponse buildContext(String userId, String sessionId, String query) {
        return buildContext(BuildContextRequest.newBuilder()
                .setUserId(Objects.requireNonNull(userId, "userId"))
                .setSessionId(Objects.requireNonNull(sessionId, "sessionId"))
                .setQuery(Objects.requireNonNull(query, "query"))
                .setAppendQuery(true)
                .build());
    }

    /**
     * Reports the tokens that the provider charged. The server corrects its estimates for that model.
     *
     * <p>It has no idempotency key and counts each time: it is retried only if the sidecar rejected it.
     *
     * @param request what a provider charged for a context
     * @return the correction that follows from it
     */
    public ReportUsageResponse reportUsage(ReportUsageRequest request) {
        return calls.call(MemoryServiceGrpc.getReportUsageMethod(), request, timeout);
    }

    /**
     * Lists sessions, the most recently active first.
     *
     * @param request selects the sessions to list
     * @return one page of sessions
     */
    public ListSessionsResponse listSessions(ListSessionsRequest request) {
        return calls.call(SessionServiceGrpc.getListSessionsMethod(), request, timeout);
    }

    /**
     * All sessions, newest activity first, through all pages of {@link #listSessions}. The deadline is for each page.
     *
     * @param request selects the sessions to list; its page token is ignored
     * @return requests each page when its first item is needed
     */
    public Pages<Session> sessions(ListSessionsRequest request) {
        return Pages.of(Paging.SESSIONS, request, page -> listSessions(page));
    }

    /**
     * Reads one session. For an unknown session the response has no {@code session}.
     *
     * @param request selects the session to read
     * @return the session
     */
    public GetSessionResponse getSession(GetSessionRequest request) {
        return calls.call(SessionServiceGrpc.getGetSessionMethod(), request, timeout);
    }

    /**
     * Lists users by id: the owners of sessions, facts or documents.
     *
     * @param request selects the users to list
     * @return one page of users
     */
    public ListUsersResponse listUsers(ListUsersRequest request) {
        return calls.call(SessionServiceGrpc.getListUsersMethod(), request, timeout);
    }

    /**
     * All users, in the order of their ids, through all pages of {@link #listUsers}. The deadline is for each page.
     *
     * @param request selects the users to list; its page token is ignored
     * @return requests each page when its first item is needed
     */
    public Pages<User> users(ListUsersRequest request) {
        return Pages.of(Paging.USERS, request, page -> listUsers(page));
    }

    /**
     * Reads what a namespace stores, and the limits of its quota. An unknown namespace stores nothing.
     *
     * @param request selects the namespace to measure
     * @return the usage and the quota
     */
    public GetUsageResponse getUsage(GetUsageRequest request) {
        return calls.call(SessionServiceGrpc.getGetUsageMethod(), request, timeout);
    }

    /**
     * Sets the policy for automatic pruning and summaries of a session; without {@code session_id}, the namespace's
     * default policy. The given policy replaces the previous one as a whole.
     *
     * @param request the policy to set
     * @return the policy in force
     */
    public SetPolicyResponse setPolicy(SetPolicyRequest request) {
        return calls.call(SessionServiceGrpc.getSetPolicyMethod(), request, timeout);
    }

    /**
     * Erases a session from every layer, facts that came from it alone included. NOT_FOUND for an unknown session, and
     * for one that an attempt before erased, whose answer was lost.
     *
     * @param request selects the session to erase
     * @return what was erased
     */
    public DeleteSessionResponse deleteSession(DeleteSessionRequest request) {
        return calls.call(SessionServiceGrpc.getDeleteSessionMethod(), request, timeout);
    }

    /**
     * Erases one message from every layer, and everything that was derived from this message only. NOT_FOUND when the
     * session has no such message.
     *
     * @param request selects the message to erase
     * @return what was erased
     */
    public ForgetMessageResponse forgetMessage(ForgetMessageRequest request) {
        return calls.call(SessionServiceGrpc.getForgetMessageMethod(), request, timeout);
    }

    /**
     * Erases a user from every layer: all of the user's sessions, facts, patterns, summaries, artifacts and documents.
     *
     * @param request selects the user to erase
     * @return what was erased
     */
    public ForgetUserResponse forgetUser(ForgetUserRequest request) {
        return calls.call(SessionServiceGrpc.getForgetUserMethod(), request, timeout);
    }

    /**
     * Streams the stored records, one per response, in an order that Import accepts. To resume an interrupted stream,
     * pass the last received cursor.
     *
     * <p>It is retried until the first response; after that, resume from the last cursor. Its only deadline is that of
     * {@link #withDeadline}.
     *
     * @param request what to export
     * @return one record of the archive, one after the other
     */
    public ResponseStream<ExportResponse> export(ExportRequest request) {
        return new ResponseStream<>(async().export(request));
    }

    /**
     * Stores records of an archive or of another system's history. Sends one response per durable batch, so that an
     * interrupted import can resume. Records that exist already are counted as duplicates and change nothing. An
     * invalid record ends the stream with its error; acknowledged records stay stored.
     *
     * <p>An interrupted stream fails; acknowledged records are durable. Its only deadline is that of
     * {@link #withDeadline}.
     *
     * @param requests records to store. A separate thread reads them, so they may wait for responses
     * @return how far the import has come, one after the other
     */
    public ResponseStream<ImportResponse> importRecords(Iterable<? extends ImportRequest> requests) {
        return new ResponseStream<>(async().importRecords(requests));
    }

    /**
     * Streams change events, from now on or from a cursor. Ends when the caller cancels, or with UNAVAILABLE when the
     * sidecar stops.
     *
     * <p>It is retried until the first response; after that, resume from the last cursor. Its only deadline is that of
     * {@link #withDeadline}.
     *
     * @param request what to watch
     * @return one event, one after the other
     */
    public ResponseStream<WatchResponse> watch(WatchRequest request) {
        return new ResponseStream<>(async().watch(request));
    }

    /**
     * Stores facts atomically. When the call returns, they are on disk. A fact with the key of a current fact and
     * another value supersedes it; the superseded fact stays in the history. A fact with the same value only updates
     * {@code last_updated}. A fact whose own {@code valid_from} or {@code last_updated} is earlier than the current
     * fact's goes into the history at once; a fact without times is the newest. Facts that the server extracts from
     * messages never supersede a pinned fact.
     *
     * <p>Keys and values are compared without case, white space and a full stop at the end.
     *
     * <p>Errors: INVALID_ARGUMENT for an invalid field, with its path ("facts[1].key"); FAILED_PRECONDITION
     * (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a request of more than 3 MiB; DISK_FULL).
     *
     * @param request facts to store
     * @return the stored facts
     */
    public PutFactsResponse putFacts(PutFactsRequest request) {
        return calls.call(KnowledgeServiceGrpc.getPutFactsMethod(), request, timeout);
    }

    /**
     * Reads the current facts of a user (or of a session without a user), ordered by confidence (highest first), then
     * last_updated (newest first), then id. If there are more than 10,000, only the most recently updated are
     * considered.
     *
     * @param request selects the facts to read
     * @return one page of facts
     */
    public ListFactsResponse listFacts(ListFactsRequest request) {
        return calls.call(KnowledgeServiceGrpc.getListFactsMethod(), request, timeout);
    }

    /**
     * All facts, through all pages of {@link #listFacts}. The deadline is for each page.
     *
     * @param request selects the facts to read; its page token is ignored
     * @return requests each page when its first item is needed
     */
    public Pages<Fact> facts(ListFactsRequest request) {
        return Pages.of(Paging.FACTS, request, page -> listFacts(page));
    }

    /**
     * Erases one fact, current or superseded, from every file. NOT_FOUND when the user has no fact with this id.
     * Erasing a fact does not restore the fact that it superseded.
     *
     * @param request selects the fact to erase
     * @return an empty response
     */
    public DeleteFactResponse deleteFact(DeleteFactRequest request) {
        return calls.call(KnowledgeServiceGrpc.getDeleteFactMethod(), request, timeout);
    }

    /**
     * Stores a compact result of a tool; when this answers, it is on disk. Or moves a large one out of the window
     * ({@code offload_message_id}): first the artifact is stored, then the message is shown as a preview. To repeat the
     * call is harmless.
     *
     * <p>Errors: INVALID_ARGUMENT for an invalid field; NOT_FOUND for an unknown message; FAILED_PRECONDITION
     * (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a content of more than 1 MiB, setting
     * {@code max_message_bytes}; DISK_FULL).
     *
     * @param request an artifact to store; the client generates missing ids
     * @return the stored artifact
     */
    public PutArtifactResponse putArtifact(PutArtifactRequest request) {
        return calls.call(KnowledgeServiceGrpc.getPutArtifactMethod(), Ids.identified(request), timeout);
    }

    /**
     * Reads the artifacts of a session, newest first by {@code create_time}, then by id. Expired artifacts are omitted.
     *
     * @param request selects the session
     * @return one page of artifacts
     */
    public ListArtifactsResponse listArtifacts(ListArtifactsRequest request) {
        return calls.call(KnowledgeServiceGrpc.getListArtifactsMethod(), request, timeout);
    }

    /**
     * All artifacts of a session, newest first, through all pages of {@link #listArtifacts}. The deadline is for each
     * page.
     *
     * @param request selects the session; its page token is ignored
     * @return requests each page when its first item is needed
     */
    public Pages<Artifact> artifacts(ListArtifactsRequest request) {
        return Pages.of(Paging.ARTIFACTS, request, page -> listArtifacts(page));
    }

    /**
     * Erases one artifact from every file. NOT_FOUND when the session has no artifact with this id. An offloaded
     * message stays stored, and its preview stays in the window.
     *
     * @param request selects the artifact to erase
     * @return an empty response
     */
    public DeleteArtifactResponse deleteArtifact(DeleteArtifactRequest request) {
        return calls.call(KnowledgeServiceGrpc.getDeleteArtifactMethod(), request, timeout);
    }

    /**
     * Stores a document and its chunks. When the call returns, they are on disk, and every later search finds them. An
     * identical document changes nothing ({@code unchanged}). A new text replaces all chunks atomically: no search sees
     * chunks of both versions. A new title, source or metadata with the same text replaces only these fields.
     *
     * <p>Errors: INVALID_ARGUMENT for an invalid field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH);
     * RESOURCE_EXHAUSTED (TOO_LARGE for a text of more than 3 MiB, setting {@code max_document_bytes}, or of more than
     * 50,000 chunks; DISK_FULL).
     *
     * @param request a document to store
     * @return the stored document
     */
    public PutDocumentResponse putDocument(PutDocumentRequest request) {
        return calls.call(KnowledgeServiceGrpc.getPutDocumentMethod(), request, timeout);
    }

    /**
     * Lists the documents of the namespace, a user or a session, without their text, ordered by id.
     *
     * @param request selects the owner of the documents
     * @return one page of documents
     */
    public ListDocumentsResponse listDocuments(ListDocumentsRequest request) {
        return calls.call(KnowledgeServiceGrpc.getListDocumentsMethod(), request, timeout);
    }

    /**
     * All documents of an owner, through all pages of {@link #listDocuments}. The deadline is for each page.
     *
     * @param request selects the owner of the documents; its page token is ignored
     * @return requests each page when its first item is needed
     */
    public Pages<Document> documents(ListDocumentsRequest request) {
        return Pages.of(Paging.DOCUMENTS, request, page -> listDocuments(page));
    }

    /**
     * Erases a document and its chunks from every file. NOT_FOUND when the namespace, user or session that the request
     * names has no document with this id.
     *
     * @param request selects the document to erase
     * @return the number of erased chunks
     */
    public DeleteDocumentResponse deleteDocument(DeleteDocumentRequest request) {
        return calls.call(KnowledgeServiceGrpc.getDeleteDocumentMethod(), request, timeout);
    }

    /**
     * Finds chunks of the documents that are visible to the caller, best first: the namespace's, the user's and the
     * session's documents together. Chunks are ranked like messages in the hybrid mode of Search, with adjacent chunks
     * as neighbours and the document in place of the session. Titles are not searched. A document is found as soon as
     * it is stored, and no longer found once it is replaced or deleted. While the index is unavailable, the search
     * ranks the documents with the lowest ids: up to 200 documents and 2,000 chunks of each owner.
     *
     * @param request the query
     * @return the chunks that were found
     */
    public SearchDocumentsResponse searchDocuments(SearchDocumentsRequest request) {
        return calls.call(KnowledgeServiceGrpc.getSearchDocumentsMethod(), request, timeout);
    }

    /**
     * Reads the stored rolling summary of a session. A background task updates it every few messages (settings
     * {@code summary_every_messages}, {@code summary_tail_tokens}), and so do Summarize and Prune. FAILED_PRECONDITION
     * (SESSION_OWNER_MISMATCH).
     *
     * @param request selects the session
     * @return the summary
     */
    public GetSummaryResponse getSummary(GetSummaryRequest request) {
        return calls.call(KnowledgeServiceGrpc.getGetSummaryMethod(), request, timeout);
    }

    /**
     * Updates the rolling summary through the newest message, stores it on disk and returns it. An empty or failed
     * result never replaces an existing summary; the existing summary is returned instead. The summary covers pruned
     * messages, not erased messages.
     *
     * <p>Errors: INVALID_ARGUMENT for an invalid field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH);
     * RESOURCE_EXHAUSTED (DISK_FULL).
     *
     * @param request selects the session to summarise
     * @return the summary
     */
    public SummarizeResponse summarize(SummarizeRequest request) {
        return calls.call(KnowledgeServiceGrpc.getSummarizeMethod(), request, timeout);
    }

    /**
     * Reads the patterns that recur in a user's conversations. A pattern is reported only if its frequency is
     * statistically significant, and `evidence` says how often it was observed. Errors: INVALID_ARGUMENT for an invalid
     * field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); with {@code refresh} RESOURCE_EXHAUSTED (DISK_FULL).
     *
     * @param request selects the owner of the patterns
     * @return what recurs
     */
    public GetPatternsResponse getPatterns(GetPatternsRequest request) {
        return calls.call(KnowledgeServiceGrpc.getGetPatternsMethod(), request, timeout);
    }

    /**
     * Settings of a client. Unset values are read from the environment, else they have the default:
     *
     * <table>
     * <caption>Settings</caption>
     * <tr><th>setting</th><th>environment</th><th>default</th></tr>
     * <tr><td>address</td><td>{@code MEMSIDECAR_ADDRESS}</td><td>127.0.0.1:7600</td></tr>
     * <tr><td>token</td><td>{@code MEMSIDECAR_TOKEN}</td><td>none</td></tr>
     * <tr><td>tokenFile</td><td>{@code MEMSIDECAR_TOKEN_FILE}</td><td>none</td></tr>
     * <tr><td>tls</td><td>{@code MEMSIDECAR_TLS}</td><td>false</td></tr>
     * <tr><td>caFile</td><td>{@code MEMSIDECAR_CA_FILE}</td><td>those of the system</td></tr>
     * <tr><td>certificateFile</td><td>{@code MEMSIDECAR_CLIENT_CERTIFICATE_FILE}</td><td>none</td></tr>
     * <tr><td>keyFile</td><td>{@code MEMSIDECAR_CLIENT_KEY_FILE}</td><td>none</td></tr>
     * <tr><td>deadline</td><td></td><td>10 seconds</td></tr>
     * <tr><td>attempts</td><td></td><td>4</td></tr>
     * </table>
     */
    public static final class Builder {
        private String address;
        private String token;
        private Path tokenFile;
        private Boolean tls;
        private Path caFile;
        private Path certificateFile;
        private Path keyFile;
        private boolean allowTokenInClear;
        private Duration deadline = Duration.ofSeconds(10);
        private int attempts = Attempts.DEFAULT;

        private Builder() {}

        /**
         * The address of the sidecar.
         *
         * @param address {@code host:port} or {@code unix:/path}
         * @return this
         */
        public Builder address(String address) {
            this.address = address;
            return this;
        }

        /**
         * The bearer token.
         *
         * @param token visible ASCII; white space around it is removed. Empty: none, regardless of the environment
         * @return this
         */
        public Builder token(String token) {
            this.token = token;
            return this;
        }

        /**
         * A file with the token. It is checked before each call, and read again when it changes. While it has no token,
         * the last one stays.
         *
         * @param tokenFile must be there when the client is built
         * @return this
         */
        public Builder tokenFile(Path tokenFile) {
            this.tokenFile = tokenFile;
            return this;
        }

        /**
         * Whether to use TLS. Implied by each of the TLS files.
         *
         * @param tls false: not even where the environment says so
         * @return this
         */
        public Builder tls(boolean tls) {
            this.tls = tls;
            return this;
        }

        /**
         * The authorities that sign the sidecar's certificate.
         *
         * @param caFile in PEM form
         * @return this
         */
        public Builder caFile(Path caFile) {
            this.caFile = caFile;
            return this;
        }

        /**
         * The client's own certificate, where the sidecar wants one. Goes with {@link #keyFile}.
         *
         * @param certificateFile in PEM form
         * @return this
         */
        public Builder certificateFile(Path certificateFile) {
            this.certificateFile = certificateFile;
            return this;
        }

        /**
         * The key of the client's own certificate.
         *
         * @param keyFile in PEM form, PKCS #8
         * @return this
         */
        public Builder keyFile(Path keyFile) {
            this.keyFile = keyFile;
            return this;
        }

        /**
         * The deadline of a call, including retries, unless {@link MemsidecarClient#withDeadline} sets another. Streams
         * have no deadline but that.
         *
         * @param deadline from when a call is made; more than 0. For none there is {@link #noDeadline}
         * @return this
         * @throws IllegalArgumentException if the deadline is not more than 0
         */
        public Builder deadline(Duration deadline) {
            this.deadline = Nanos.ahead(deadline);
            return this;
        }

        /**
         * Calls may take as long as they like, unless {@link MemsidecarClient#withDeadline} says otherwise.
         *
         * @return this
         */
        public Builder noDeadline() {
            this.deadline = null;
            return this;
        }

        /**
         * The maximum number of attempts of a call.
         *
         * @param attempts 1: no retry
         * @return this
         */
        public Builder attempts(int attempts) {
            if (attempts < 1) {
                throw new IllegalArgumentException("a call is sent at least once");
            }
            this.attempts = attempts;
            return this;
        }

        /**
         * Whether a token may be sent to another machine without TLS.
         *
         * @param allowTokenInClear false unless set
         * @return this
         */
        public Builder allowTokenInClear(boolean allowTokenInClear) {
            this.allowTokenInClear = allowTokenInClear;
            return this;
        }

        /**
         * Makes the client. It connects with the first call.
         *
         * @return to be closed
         * @throws IllegalArgumentException if a setting makes no sense, or some do not go together
         * @throws java.io.UncheckedIOException if a file cannot be read
         */
        public MemsidecarClient build() {
            Settings given =
                    new Settings(address, token, tokenFile, tls, caFile, certificateFile, keyFile, allowTokenInClear);
            Connection connection = given.completedBy(System.getenv()).connection();
            return new MemsidecarClient(connection, attempts, deadline, null);
        }
    }
}
