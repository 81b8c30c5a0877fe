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
import dev.memsidecar.v1.WatchRequest;
import dev.memsidecar.v1.WatchResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/**
 * A sidecar, for code that waits. One is enough for a process: any number of threads may share it. It connects with the
 * first call.
 *
 * <pre>{@code
 * try (MemsidecarClient memory = MemsidecarClient.create()) {
 *     memory.add("ana", "s1", Messages.user("I moved to Lisbon."));
 *     BuildContextResponse context = memory.buildContext("ana", "s2", "Where do I live?");
 * }
 * }</pre>
 *
 * <p>There is a method for each RPC of the contract, with its request. Each may throw a {@link MemsidecarException}, as
 * the class of its reason. A call that fails because the sidecar is away is sent again, up to four times in all and
 * within its deadline; no message is stored twice for it, because each has an id. {@link #reportUsage} has none: it is
 * sent again only where the sidecar refused it. To interrupt a thread that waits gives its call up, with
 * {@link CancelledException}. A text that is not valid Unicode, because it was cut inside an emoji, say, is refused
 * before anything is sent, with an {@link IllegalArgumentException} that names its field.
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
     * A client as the environment says: {@code MEMSIDECAR_ADDRESS}, else 127.0.0.1:7600, and so on, as with
     * {@link Builder}.
     *
     * @return not connected yet
     */
    public static MemsidecarClient create() {
        return builder().build();
    }

    /**
     * A client with settings of its own.
     *
     * @return with nothing set
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * An id for a message, or for whatever else has one: a UUIDv7, so that ids sort by when they were made.
     *
     * @return another each time
     */
    public static String newId() {
        return Ids.newId();
    }

    /**
     * The same client, for futures. It shares the connection: to close either closes both.
     *
     * @return with the deadline of this one
     */
    public AsyncMemsidecarClient async() {
        return new AsyncMemsidecarClient(connection, calls.attempts(), timeout, streamTimeout);
    }

    /**
     * The same client, whose calls may take so long, retries included; streams, too, which otherwise have no deadline.
     * It shares the connection: to close either closes both.
     *
     * @param deadline for each call, from when it is made. What is left of the caller's own time may be 0 or less: then
     *     calls end at once with {@link DeadlineExceededException}, and nothing is sent
     * @return a view that is cheap enough for a single call
     */
    public MemsidecarClient withDeadline(Duration deadline) {
        Objects.requireNonNull(deadline, "deadline");
        return new MemsidecarClient(connection, calls.attempts(), deadline, deadline);
    }

    /**
     * The same client, whose calls may take as long as they like; attempts are counted all the same. It shares the
     * connection: to close either closes both.
     *
     * @return a view that is cheap enough for a single call
     */
    public MemsidecarClient withoutDeadline() {
        return new MemsidecarClient(connection, calls.attempts(), null, null);
    }

    /**
     * Returns as soon as the sidecar says that it serves.
     *
     * @param atMost how long to wait for it
     * @throws DeadlineExceededException if it does not in time
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
     * Appends one message. When this answers, the message is on disk and every later read sees it.
     *
     * <p>Errors: INVALID_ARGUMENT for a wrong field; ALREADY_EXISTS (ID_CONFLICT) for a known id with another body;
     * ABORTED (SEQUENCE_MISMATCH) when {@code expected_sequence} does not match; RESOURCE_EXHAUSTED (TOO_LARGE,
     * DISK_FULL).
     *
     * @param request one message to append; what has no id gets one
     * @return the acknowledgement: what it names is durable
     */
    public AddResponse add(AddRequest request) {
        return calls.call(MemoryServiceGrpc.getAddMethod(), Ids.identified(request), timeout);
    }

    /**
     * Appends one message. The short form of {@link #add(AddRequest)}.
     *
     * @param userId whose session it is; empty: nobody says
     * @param sessionId which session; it comes into being with its first message
     * @param message what was said, as {@link Messages} makes it; without an id it gets one
     * @return the acknowledgement: what it names is durable
     */
    public AddResponse add(String userId, String sessionId, Message message) {
        return add(AddRequest.newBuilder()
                .setUserId(Objects.requireNonNull(userId, "userId"))
                .setSessionId(Objects.requireNonNull(sessionId, "sessionId"))
                .setMessage(Objects.requireNonNull(message, "message"))
                .build());
    }

    /**
     * Appends messages of one session, all or nothing, in one acknowledgement. Errors as with Add; after an error with
     * a reason nothing of the batch is stored, unless by an earlier attempt whose answer was lost.
     *
     * @param request messages of one session to append together; what has no id gets one
     * @return the acknowledgement of the whole batch
     */
    public AddBatchResponse addBatch(AddBatchRequest request) {
        return calls.call(MemoryServiceGrpc.getAddBatchMethod(), Ids.identified(request), timeout);
    }

    /**
     * Appends in bulk: one answer per request, in order, each sent when durable. An invalid request ends the stream
     * with its error; what was answered stays. Requests of one stream may name different sessions.
     *
     * <p>A stream that breaks off goes on with what is not answered yet, on a new connection, and doubles nothing. It
     * has no deadline but that of {@link #withDeadline}.
     *
     * @param requests messages to append; what has no id gets one. They are taken in a thread of its own, and may wait
     *     for answers
     * @return the acknowledgement of one message of a stream, one after the other
     */
    public Answers<AddStreamResponse> addStream(Iterable<? extends AddStreamRequest> requests) {
        return new Answers<>(async().addStream(requests));
    }

    /**
     * Appends one user and one assistant message as one turn, all or nothing. Idempotent by {@code interaction_id}.
     * Errors as with Add.
     *
     * @param request one question and its answer; what has no id gets one
     * @return the acknowledgement of both messages
     */
    public StoreInteractionResponse storeInteraction(StoreInteractionRequest request) {
        return calls.call(MemoryServiceGrpc.getStoreInteractionMethod(), Ids.identified(request), timeout);
    }

    /**
     * Sets what is learned about a message later: its evaluation score and tags. NOT_FOUND when the session has no such
     * message. Its content, its tokens and its place do not change.
     *
     * @param request what is to be set on a stored message
     * @return the annotated message
     */
    public AnnotateResponse annotate(AnnotateRequest request) {
        return calls.call(MemoryServiceGrpc.getAnnotateMethod(), request, timeout);
    }

    /**
     * Reads a session page by page, oldest first.
     *
     * @param request which messages of a session to read
     * @return one page
     */
    public GetAllResponse getAll(GetAllRequest request) {
        return calls.call(MemoryServiceGrpc.getGetAllMethod(), request, timeout);
    }

    /**
     * All messages of a session, oldest first, through all pages of {@link #getAll}. The deadline is for each page.
     *
     * @param request which messages of a session to read; its page token does not count
     * @return asks for a page when its first item is asked for
     */
    public Pages<Message> messages(GetAllRequest request) {
        return Pages.of(Paging.MESSAGES, request, page -> getAll(page));
    }

    /**
     * Reads the newest n messages of the window, oldest first.
     *
     * @param request how many of the newest messages to read
     * @return the newest messages
     */
    public GetRecentResponse getRecent(GetRecentRequest request) {
        return calls.call(MemoryServiceGrpc.getGetRecentMethod(), request, timeout);
    }

    /**
     * Reads the messages of one role in the window, oldest first.
     *
     * @param request which role to read
     * @return the messages of the role
     */
    public GetByRoleResponse getByRole(GetByRoleRequest request) {
        return calls.call(MemoryServiceGrpc.getGetByRoleMethod(), request, timeout);
    }

    /**
     * Finds messages, best first: by a substring, by words, by meaning, or by words and meaning together (mode).
     *
     * <p>Sees every acknowledged message at once, pruned ones included, and none that was erased. Looks at the content
     * and at the names and arguments of tool calls; in the substring mode at the content alone; never at reasoning.
     * Only what the request names filters: there is no hidden threshold. An unknown session is answered empty. When the
     * index or the embedder is away, the rest answers and {@code degraded} says so.
     *
     * <p>Pages are as of the first page: what was added since is neither in them nor moves anything from one to
     * another.
     *
     * <p>Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH).
     *
     * @param request what to find, and where
     * @return one page of hits
     */
    public SearchResponse search(SearchRequest request) {
        return calls.call(MemoryServiceGrpc.getSearchMethod(), request, timeout);
    }

    /**
     * All messages that are found, best first, through all pages of {@link #search}. The deadline is for each page.
     *
     * @param request what to find, and where; its page token does not count
     * @return asks for a page when its first item is asked for
     */
    public Pages<SearchHit> hits(SearchRequest request) {
        return Pages.of(Paging.HITS, request, page -> search(page));
    }

    /**
     * Counts messages and tokens.
     *
     * @param request which session to count
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
     * @param request how far to prune, and how
     * @return what was pruned, or in a dry run would be
     */
    public PruneResponse prune(PruneRequest request) {
        return calls.call(MemoryServiceGrpc.getPruneMethod(), request, timeout);
    }

    /**
     * Erases the session's messages and summary, from every layer. Facts stay; sequences go on. An unknown session is
     * answered with a {@code removed_count} of 0, and so is one that an attempt before emptied, whose answer was lost.
     *
     * @param request which session to empty
     * @return how much was erased
     */
    public ClearResponse clear(ClearRequest request) {
        return calls.call(MemoryServiceGrpc.getClearMethod(), request, timeout);
    }

    /**
     * Builds what the model should see, within a budget, and accounts for it. Changes nothing that a caller stored; a
     * short conversation whose summary is due gets it now and not some moments later. What cannot be retrieved in time,
     * or because the index or the embedder is away, is left out, and {@code degraded} says so.
     *
     * <p>Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (BUDGET_TOO_SMALL, with
     * {@code required_tokens} in the metadata, when what must stay does not fit; SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED
     * (TOO_LARGE for a context of more than 4 MiB).
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
     * Tells what the provider charged, so that estimates for that model are corrected.
     *
     * <p>Each counts, and has no id: it is sent again only where the sidecar said that it did nothing.
     *
     * @param request what a provider charged for a context
     * @return the correction that follows from it
     */
    public ReportUsageResponse reportUsage(ReportUsageRequest request) {
        return calls.call(MemoryServiceGrpc.getReportUsageMethod(), request, timeout);
    }

    /**
     * Newest activity first.
     *
     * @param request which sessions to list
     * @return one page of sessions
     */
    public ListSessionsResponse listSessions(ListSessionsRequest request) {
        return calls.call(SessionServiceGrpc.getListSessionsMethod(), request, timeout);
    }

    /**
     * All sessions, newest activity first, through all pages of {@link #listSessions}. The deadline is for each page.
     *
     * @param request which sessions to list; its page token does not count
     * @return asks for a page when its first item is asked for
     */
    public Pages<Session> sessions(ListSessionsRequest request) {
        return Pages.of(Paging.SESSIONS, request, page -> listSessions(page));
    }

    /**
     * Reads one session. An unknown one answers an empty GetSessionResponse, without {@code session}.
     *
     * @param request which session to read
     * @return the session
     */
    public GetSessionResponse getSession(GetSessionRequest request) {
        return calls.call(SessionServiceGrpc.getGetSessionMethod(), request, timeout);
    }

    /**
     * Sets how a session prunes and summarises itself; without {@code session_id}, the namespace's default. The given
     * policy replaces the one before as a whole.
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
     * @param request which session to erase
     * @return what was erased
     */
    public DeleteSessionResponse deleteSession(DeleteSessionRequest request) {
        return calls.call(SessionServiceGrpc.getDeleteSessionMethod(), request, timeout);
    }

    /**
     * Erases one message from every layer and what was derived from it alone. NOT_FOUND when the session has no such
     * message.
     *
     * @param request which message to erase
     * @return what was erased
     */
    public ForgetMessageResponse forgetMessage(ForgetMessageRequest request) {
        return calls.call(SessionServiceGrpc.getForgetMessageMethod(), request, timeout);
    }

    /**
     * Erases a user from every layer: all their sessions, facts, patterns, summaries, artifacts and documents.
     *
     * @param request which user to erase
     * @return what was erased
     */
    public ForgetUserResponse forgetUser(ForgetUserRequest request) {
        return calls.call(SessionServiceGrpc.getForgetUserMethod(), request, timeout);
    }

    /**
     * Streams what is stored, one record an answer, in an order that Import accepts. A stream that broke off goes on
     * after the last cursor that was received.
     *
     * <p>It is sent again until something is answered; after that, go on from the last cursor. It has no deadline but
     * that of {@link #withDeadline}.
     *
     * @param request what to export
     * @return one record of the archive, one after the other
     */
    public Answers<ExportResponse> export(ExportRequest request) {
        return new Answers<>(async().export(request));
    }

    /**
     * Stores records of an archive, or of a history from elsewhere. One answer per durable batch, so that an
     * interrupted import can go on. Records that are there already are counted as duplicates and change nothing. An
     * invalid record ends the stream with its error; what was answered stays.
     *
     * <p>A stream that breaks off fails; what was answered is durable. It has no deadline but that of
     * {@link #withDeadline}.
     *
     * @param requests records to store. They are taken in a thread of its own, and may wait for answers
     * @return how far the import has come, one after the other
     */
    public Answers<ImportResponse> importRecords(Iterable<? extends ImportRequest> requests) {
        return new Answers<>(async().importRecords(requests));
    }

    /**
     * What happens from now on, or from a cursor. Ends when the caller cancels, or with UNAVAILABLE when the sidecar
     * stops.
     *
     * <p>It is sent again until something is answered; after that, go on from the last cursor. It has no deadline but
     * that of {@link #withDeadline}.
     *
     * @param request what to watch
     * @return one event, one after the other
     */
    public Answers<WatchResponse> watch(WatchRequest request) {
        return new Answers<>(async().watch(request));
    }

    /**
     * Stores facts, all or nothing; when this answers, they are on disk. One with the key of a current fact and another
     * value supersedes it; the old one stays in the history. One with the same value is seen again: its
     * {@code last_updated} moves, nothing else. One with times of its own that holds since earlier than the current
     * one, or was last seen earlier, goes into the history at once; one without is the newest. Facts that were learned
     * from messages never supersede a pinned one.
     *
     * <p>Spelling does not make another value or key: case, white space and a full stop at the end do not count.
     *
     * <p>Errors: INVALID_ARGUMENT for a wrong field, with its path ("facts[1].key"); FAILED_PRECONDITION
     * (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a request of more than 3 MiB; DISK_FULL).
     *
     * @param request facts to store
     * @return the stored facts
     */
    public PutFactsResponse putFacts(PutFactsRequest request) {
        return calls.call(KnowledgeServiceGrpc.getPutFactsMethod(), request, timeout);
    }

    /**
     * Reads the current facts of a user (or of a session without a user), most confident first, then those seen last,
     * then by id. Of more than 10,000, those seen last are looked at.
     *
     * @param request which facts to read
     * @return one page of facts
     */
    public ListFactsResponse listFacts(ListFactsRequest request) {
        return calls.call(KnowledgeServiceGrpc.getListFactsMethod(), request, timeout);
    }

    /**
     * All facts, through all pages of {@link #listFacts}. The deadline is for each page.
     *
     * @param request which facts to read; its page token does not count
     * @return asks for a page when its first item is asked for
     */
    public Pages<Fact> facts(ListFactsRequest request) {
        return Pages.of(Paging.FACTS, request, page -> listFacts(page));
    }

    /**
     * Erases one fact, current or superseded, from every file. NOT_FOUND when the user has none with this id. A
     * superseded one does not come back when the one that superseded it is erased.
     *
     * @param request which fact to erase
     * @return the fact is gone
     */
    public DeleteFactResponse deleteFact(DeleteFactRequest request) {
        return calls.call(KnowledgeServiceGrpc.getDeleteFactMethod(), request, timeout);
    }

    /**
     * Stores a compact result of a tool; when this answers, it is on disk. Or moves a large one out of the window
     * ({@code {@code offload_message_id}}): first the artifact is stored, then the message is shown as a preview. To
     * repeat the call is harmless.
     *
     * <p>Errors: INVALID_ARGUMENT for a wrong field; NOT_FOUND (NOT_FOUND for a message that is not there);
     * FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a content of more than 1 MiB, setting
     * {@code max_message_bytes}; DISK_FULL).
     *
     * @param request an artifact to store; what has no id gets one
     * @return the stored artifact
     */
    public PutArtifactResponse putArtifact(PutArtifactRequest request) {
        return calls.call(KnowledgeServiceGrpc.getPutArtifactMethod(), Ids.identified(request), timeout);
    }

    /**
     * Reads the artifacts of a session, newest first by {@code create_time}, then by id; expired ones are left out.
     *
     * @param request whose artifacts to read
     * @return one page of artifacts
     */
    public ListArtifactsResponse listArtifacts(ListArtifactsRequest request) {
        return calls.call(KnowledgeServiceGrpc.getListArtifactsMethod(), request, timeout);
    }

    /**
     * All artifacts of a session, newest first, through all pages of {@link #listArtifacts}. The deadline is for each
     * page.
     *
     * @param request whose artifacts to read; its page token does not count
     * @return asks for a page when its first item is asked for
     */
    public Pages<Artifact> artifacts(ListArtifactsRequest request) {
        return Pages.of(Paging.ARTIFACTS, request, page -> listArtifacts(page));
    }

    /**
     * Erases one artifact, from every file. NOT_FOUND when the session has none with this id. The message that it held
     * stays stored, and its preview in the window stays a preview.
     *
     * @param request which artifact to erase
     * @return the artifact is gone
     */
    public DeleteArtifactResponse deleteArtifact(DeleteArtifactRequest request) {
        return calls.call(KnowledgeServiceGrpc.getDeleteArtifactMethod(), request, timeout);
    }

    /**
     * Stores a document and its chunks. When this answers, they are on disk, and every later search finds them. The
     * same document again does nothing ({@code unchanged}); another text replaces the chunks all at once, and nobody
     * sees a part of either; another title, source or metadata alone replaces just these.
     *
     * <p>Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED
     * (TOO_LARGE for a text of more than 3 MiB, setting {@code max_document_bytes}, or of more than 50,000 chunks;
     * DISK_FULL).
     *
     * @param request a document to store
     * @return the stored document
     */
    public PutDocumentResponse putDocument(PutDocumentRequest request) {
        return calls.call(KnowledgeServiceGrpc.getPutDocumentMethod(), request, timeout);
    }

    /**
     * Reads what documents were put for the namespace, a user or a session, without their text, in the order of their
     * ids.
     *
     * @param request whose documents to list
     * @return one page of documents
     */
    public ListDocumentsResponse listDocuments(ListDocumentsRequest request) {
        return calls.call(KnowledgeServiceGrpc.getListDocumentsMethod(), request, timeout);
    }

    /**
     * All documents that were put for somebody, through all pages of {@link #listDocuments}. The deadline is for each
     * page.
     *
     * @param request whose documents to list; its page token does not count
     * @return asks for a page when its first item is asked for
     */
    public Pages<Document> documents(ListDocumentsRequest request) {
        return Pages.of(Paging.DOCUMENTS, request, page -> listDocuments(page));
    }

    /**
     * Erases a document and its chunks, from every file. NOT_FOUND when none with this id was put for the namespace,
     * user or session that the request names.
     *
     * @param request which document to erase
     * @return the document is gone
     */
    public DeleteDocumentResponse deleteDocument(DeleteDocumentRequest request) {
        return calls.call(KnowledgeServiceGrpc.getDeleteDocumentMethod(), request, timeout);
    }

    /**
     * Finds chunks of the documents that the caller may see, best first: the namespace's, the user's and the session's
     * together. Ranked like messages in the hybrid mode of Search, with the chunks around in place of the messages
     * around, and the document in place of the session; titles are not looked at. A document is found as soon as it is
     * put, and not any more once it is replaced or deleted. While the index is away, the documents of the first ids are
     * ranked: up to 200 of them, and 2,000 chunks, of each owner.
     *
     * @param request what to find in documents
     * @return the chunks that were found
     */
    public SearchDocumentsResponse searchDocuments(SearchDocumentsRequest request) {
        return calls.call(KnowledgeServiceGrpc.getSearchDocumentsMethod(), request, timeout);
    }

    /**
     * Reads the rolling summary of a session, as it is: made in the background every few messages (settings
     * {@code summary_every_messages}, {@code summary_tail_tokens}), and by Summarize and Prune. FAILED_PRECONDITION
     * (SESSION_OWNER_MISMATCH).
     *
     * @param request whose summary to read
     * @return the summary
     */
    public GetSummaryResponse getSummary(GetSummaryRequest request) {
        return calls.call(KnowledgeServiceGrpc.getGetSummaryMethod(), request, timeout);
    }

    /**
     * Brings the rolling summary up to now, and answers it; it is then on disk. An empty or failed result never
     * replaces a good summary: the answer is then the one that was there. Pruned messages are spoken for, too, erased
     * ones are not.
     *
     * <p>Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED
     * (DISK_FULL).
     *
     * @param request which session to summarise
     * @return the summary
     */
    public SummarizeResponse summarize(SummarizeRequest request) {
        return calls.call(KnowledgeServiceGrpc.getSummarizeMethod(), request, timeout);
    }

    /**
     * Reads what recurs in a user's conversations. Only what is seen often enough to be no accident is a pattern, and
     * each says how often. Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); with
     * {@code refresh} RESOURCE_EXHAUSTED (DISK_FULL).
     *
     * @param request whose patterns to read
     * @return what recurs
     */
    public GetPatternsResponse getPatterns(GetPatternsRequest request) {
        return calls.call(KnowledgeServiceGrpc.getGetPatternsMethod(), request, timeout);
    }

    /**
     * What a client is made with. What is not set is taken from the environment, else has the default:
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
         * Where the sidecar is.
         *
         * @param address {@code host:port} or {@code unix:/path}
         * @return this
         */
        public Builder address(String address) {
            this.address = address;
            return this;
        }

        /**
         * What to show.
         *
         * @param token visible ASCII; white space around it does not count. Empty: none, whatever the environment says
         * @return this
         */
        public Builder token(String token) {
            this.token = token;
            return this;
        }

        /**
         * A file with what to show. It is looked at before each call, and read again when it changes. While it holds no
         * token, the last one stays.
         *
         * @param tokenFile must be there when the client is built
         * @return this
         */
        public Builder tokenFile(Path tokenFile) {
            this.tokenFile = tokenFile;
            return this;
        }

        /**
         * Whether to speak TLS. Not needed where one of the files is given.
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
         * How long a call may take, retries included, unless {@link MemsidecarClient#withDeadline} says otherwise.
         * Streams have no deadline but that.
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
         * How often a call is sent at most.
         *
         * @param attempts 1: never again
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
         * Whether a token may leave the machine without TLS.
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
