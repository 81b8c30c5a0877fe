// Made by generate.mjs out of the contract; do not edit.
import type { Calls, CallOptions } from "../calls.js";
import { rpc } from "../rpc.js";
import { MemoryService } from "./memsidecar/v1/memory_pb.js";
import { SessionService } from "./memsidecar/v1/session_pb.js";
import { KnowledgeService } from "./memsidecar/v1/knowledge_pb.js";
import type {
    AddBatchRequest,
    AddBatchResponse,
    AddRequest,
    AddResponse,
    AddStreamRequest,
    AddStreamResponse,
    AnnotateRequest,
    AnnotateResponse,
    Artifact,
    BuildContextRequest,
    BuildContextResponse,
    ClearRequest,
    ClearResponse,
    CountRequest,
    CountResponse,
    DeleteArtifactRequest,
    DeleteArtifactResponse,
    DeleteDocumentRequest,
    DeleteDocumentResponse,
    DeleteFactRequest,
    DeleteFactResponse,
    DeleteSessionRequest,
    DeleteSessionResponse,
    Document,
    ExportRequest,
    ExportResponse,
    Fact,
    ForgetMessageRequest,
    ForgetMessageResponse,
    ForgetUserRequest,
    ForgetUserResponse,
    GetAllRequest,
    GetAllResponse,
    GetByRoleRequest,
    GetByRoleResponse,
    GetPatternsRequest,
    GetPatternsResponse,
    GetRecentRequest,
    GetRecentResponse,
    GetSessionRequest,
    GetSessionResponse,
    GetSummaryRequest,
    GetSummaryResponse,
    ImportRequest,
    ImportResponse,
    ListArtifactsRequest,
    ListArtifactsResponse,
    ListDocumentsRequest,
    ListDocumentsResponse,
    ListFactsRequest,
    ListFactsResponse,
    ListSessionsRequest,
    ListSessionsResponse,
    Message,
    PruneRequest,
    PruneResponse,
    PutArtifactRequest,
    PutArtifactResponse,
    PutDocumentRequest,
    PutDocumentResponse,
    PutFactsRequest,
    PutFactsResponse,
    ReportUsageRequest,
    ReportUsageResponse,
    SearchDocumentsRequest,
    SearchDocumentsResponse,
    SearchHit,
    SearchRequest,
    SearchResponse,
    Session,
    SetPolicyRequest,
    SetPolicyResponse,
    StoreInteractionRequest,
    StoreInteractionResponse,
    SummarizeRequest,
    SummarizeResponse,
    WatchRequest,
    WatchResponse,
} from "./types.js";

const ADD = rpc<AddRequest, AddResponse>(MemoryService.method.add, "message");
const ADD_BATCH = rpc<AddBatchRequest, AddBatchResponse>(MemoryService.method.addBatch);
const ADD_STREAM = rpc<AddStreamRequest, AddStreamResponse>(MemoryService.method.addStream, "message");
const STORE_INTERACTION = rpc<StoreInteractionRequest, StoreInteractionResponse>(MemoryService.method.storeInteraction);
const ANNOTATE = rpc<AnnotateRequest, AnnotateResponse>(MemoryService.method.annotate);
const GET_ALL = rpc<GetAllRequest, GetAllResponse>(MemoryService.method.getAll);
const GET_RECENT = rpc<GetRecentRequest, GetRecentResponse>(MemoryService.method.getRecent);
const GET_BY_ROLE = rpc<GetByRoleRequest, GetByRoleResponse>(MemoryService.method.getByRole);
const SEARCH = rpc<SearchRequest, SearchResponse>(MemoryService.method.search);
const COUNT = rpc<CountRequest, CountResponse>(MemoryService.method.count);
const PRUNE = rpc<PruneRequest, PruneResponse>(MemoryService.method.prune);
const CLEAR = rpc<ClearRequest, ClearResponse>(MemoryService.method.clear);
const BUILD_CONTEXT = rpc<BuildContextRequest, BuildContextResponse>(MemoryService.method.buildContext);
const REPORT_USAGE = rpc<ReportUsageRequest, ReportUsageResponse>(MemoryService.method.reportUsage);
const LIST_SESSIONS = rpc<ListSessionsRequest, ListSessionsResponse>(SessionService.method.listSessions);
const GET_SESSION = rpc<GetSessionRequest, GetSessionResponse>(SessionService.method.getSession);
const SET_POLICY = rpc<SetPolicyRequest, SetPolicyResponse>(SessionService.method.setPolicy);
const DELETE_SESSION = rpc<DeleteSessionRequest, DeleteSessionResponse>(SessionService.method.deleteSession);
const FORGET_MESSAGE = rpc<ForgetMessageRequest, ForgetMessageResponse>(SessionService.method.forgetMessage);
const FORGET_USER = rpc<ForgetUserRequest, ForgetUserResponse>(SessionService.method.forgetUser);
const EXPORT = rpc<ExportRequest, ExportResponse>(SessionService.method.export);
const IMPORT = rpc<ImportRequest, ImportResponse>(SessionService.method.import);
const WATCH = rpc<WatchRequest, WatchResponse>(SessionService.method.watch);
const PUT_FACTS = rpc<PutFactsRequest, PutFactsResponse>(KnowledgeService.method.putFacts);
const LIST_FACTS = rpc<ListFactsRequest, ListFactsResponse>(KnowledgeService.method.listFacts);
const DELETE_FACT = rpc<DeleteFactRequest, DeleteFactResponse>(KnowledgeService.method.deleteFact);
const PUT_ARTIFACT = rpc<PutArtifactRequest, PutArtifactResponse>(KnowledgeService.method.putArtifact, "artifact");
const LIST_ARTIFACTS = rpc<ListArtifactsRequest, ListArtifactsResponse>(KnowledgeService.method.listArtifacts);
const DELETE_ARTIFACT = rpc<DeleteArtifactRequest, DeleteArtifactResponse>(KnowledgeService.method.deleteArtifact);
const PUT_DOCUMENT = rpc<PutDocumentRequest, PutDocumentResponse>(KnowledgeService.method.putDocument, "document");
const LIST_DOCUMENTS = rpc<ListDocumentsRequest, ListDocumentsResponse>(KnowledgeService.method.listDocuments);
const DELETE_DOCUMENT = rpc<DeleteDocumentRequest, DeleteDocumentResponse>(KnowledgeService.method.deleteDocument);
const SEARCH_DOCUMENTS = rpc<SearchDocumentsRequest, SearchDocumentsResponse>(KnowledgeService.method.searchDocuments);
const GET_SUMMARY = rpc<GetSummaryRequest, GetSummaryResponse>(KnowledgeService.method.getSummary);
const SUMMARIZE = rpc<SummarizeRequest, SummarizeResponse>(KnowledgeService.method.summarize);
const GET_PATTERNS = rpc<GetPatternsRequest, GetPatternsResponse>(KnowledgeService.method.getPatterns);

/** A method for each RPC. What a request leaves out has the server's default. */
export class Methods {
    readonly #calls: Calls;

    /** @internal */
    constructor(calls: Calls) {
        this.#calls = calls;
    }

    /**
     * Appends one message. When the call returns, the message is on disk, and every later read returns it.
     *
     * Errors: INVALID_ARGUMENT for an invalid field; ALREADY_EXISTS (ID_CONFLICT) for an existing id with a
     * different body; ABORTED (SEQUENCE_MISMATCH) when expectedSequence does not match; RESOURCE_EXHAUSTED
     * (TOO_LARGE, DISK_FULL).
     */
    add(request: AddRequest, options?: CallOptions): Promise<AddResponse> {
        return this.#calls.unary(ADD, request, options);
    }

    /**
     * Appends messages of one session atomically, with one acknowledgement. Errors as with Add; after an error no
     * message of the batch is stored.
     */
    addBatch(request: AddBatchRequest, options?: CallOptions): Promise<AddBatchResponse> {
        return this.#calls.unary(ADD_BATCH, request, options);
    }

    /**
     * Appends messages in bulk. Sends one response per request, in order, each when its message is durable. An
     * invalid request ends the stream with its error; acknowledged messages stay stored. Requests of one stream
     * may name different sessions.
     *
     * Nothing is sent before the answers are read, and whoever stops reading ends it. It has no deadline but the
     * one given here.
     */
    addStream(
        requests: Iterable<AddStreamRequest> | AsyncIterable<AddStreamRequest>,
        options?: CallOptions,
    ): AsyncGenerator<AddStreamResponse, void, undefined> {
        return this.#calls.replayed(ADD_STREAM, requests, options);
    }

    /**
     * Appends one user message and one assistant message as one turn, atomically. Idempotent by interactionId.
     * Errors as with Add.
     */
    storeInteraction(request: StoreInteractionRequest, options?: CallOptions): Promise<StoreInteractionResponse> {
        return this.#calls.unary(STORE_INTERACTION, request, options);
    }

    /**
     * Sets the evaluation score and the metadata of a stored message. NOT_FOUND when the session has no such
     * message. Content, tokens and sequence do not change.
     */
    annotate(request: AnnotateRequest, options?: CallOptions): Promise<AnnotateResponse> {
        return this.#calls.unary(ANNOTATE, request, options);
    }

    /** Reads a session page by page, oldest first. */
    getAll(request: GetAllRequest, options?: CallOptions): Promise<GetAllResponse> {
        return this.#calls.unary(GET_ALL, request, options);
    }

    /** Goes through all pages of `getAll`, each asked for when it is needed. `options` are for each page. */
    messages(
        request: Omit<GetAllRequest, "pageToken">,
        options?: CallOptions,
    ): AsyncGenerator<Message, void, undefined> {
        return this.#calls.pages(GET_ALL, request, "messages", options);
    }

    /** Reads the newest n messages of the window, oldest first. */
    getRecent(request: GetRecentRequest, options?: CallOptions): Promise<GetRecentResponse> {
        return this.#calls.unary(GET_RECENT, request, options);
    }

    /** Reads the messages of one role in the window, oldest first. */
    getByRole(request: GetByRoleRequest, options?: CallOptions): Promise<GetByRoleResponse> {
        return this.#calls.unary(GET_BY_ROLE, request, options);
    }

    /**
     * Finds messages, best first: by substring, by keywords, by meaning, or by keywords and meaning together
     * (mode).
     *
     * A search sees every acknowledged message at once, pruned messages included, erased messages excluded. It
     * searches the content and the names and arguments of tool calls; in the substring mode, the content only;
     * never the reasoning. Only the request's own filters apply; there is no hidden threshold. For an unknown
     * session the result is empty. When the index or the embedder is unavailable, the search uses the remaining
     * signals, and `degraded` says so.
     *
     * All pages show the state at the first page: messages added later neither appear in them nor move hits
     * between pages. In the scope of a whole namespace, and for a user whose messages do not fit into memory,
     * paging ends with the last ranked candidate (SearchRequest.limit).
     *
     * Errors: INVALID_ARGUMENT for an invalid field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH).
     */
    search(request: SearchRequest, options?: CallOptions): Promise<SearchResponse> {
        return this.#calls.unary(SEARCH, request, options);
    }

    /** Goes through all pages of `search`, each asked for when it is needed. `options` are for each page. */
    hits(request: Omit<SearchRequest, "pageToken">, options?: CallOptions): AsyncGenerator<SearchHit, void, undefined> {
        return this.#calls.pages(SEARCH, request, "hits", options);
    }

    /** Counts messages and tokens. */
    count(request: CountRequest, options?: CallOptions): Promise<CountResponse> {
        return this.#calls.unary(COUNT, request, options);
    }

    /**
     * Prunes a session to a token budget. Pruned messages leave the window; Search and episodic retrieval still
     * find them. System messages stay. A tool call and its results stay together. The newest minMessages stay even
     * if the session then exceeds the budget (`overBudget`).
     */
    prune(request: PruneRequest, options?: CallOptions): Promise<PruneResponse> {
        return this.#calls.unary(PRUNE, request, options);
    }

    /**
     * Erases the session's messages and summary from every layer. Facts stay, and sequence numbers continue. For
     * an unknown session removedCount is 0.
     */
    clear(request: ClearRequest, options?: CallOptions): Promise<ClearResponse> {
        return this.#calls.unary(CLEAR, request, options);
    }

    /**
     * Builds the model's context within a token budget and returns a receipt for it. Does not change stored
     * messages; if the summary of a short conversation is due, it is made now rather than in the background.
     * Results that cannot be retrieved before the deadline, or because the index or the embedder is unavailable,
     * are omitted, and `degraded` says so.
     *
     * Errors: INVALID_ARGUMENT for an invalid field; FAILED_PRECONDITION (BUDGET_TOO_SMALL, with required_tokens
     * in the metadata, when the mandatory parts do not fit; SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE
     * for a context of more than 4 MiB).
     */
    buildContext(request: BuildContextRequest, options?: CallOptions): Promise<BuildContextResponse> {
        return this.#calls.unary(BUILD_CONTEXT, request, options);
    }

    /** Reports the tokens that the provider charged. The server corrects its estimates for that model. */
    reportUsage(request: ReportUsageRequest, options?: CallOptions): Promise<ReportUsageResponse> {
        return this.#calls.unary(REPORT_USAGE, request, options);
    }

    /** Lists sessions, the most recently active first. */
    listSessions(request: ListSessionsRequest, options?: CallOptions): Promise<ListSessionsResponse> {
        return this.#calls.unary(LIST_SESSIONS, request, options);
    }

    /** Goes through all pages of `listSessions`, each asked for when it is needed. `options` are for each page. */
    sessions(
        request: Omit<ListSessionsRequest, "pageToken">,
        options?: CallOptions,
    ): AsyncGenerator<Session, void, undefined> {
        return this.#calls.pages(LIST_SESSIONS, request, "sessions", options);
    }

    /** Reads one session. For an unknown session the response has no `session`. */
    getSession(request: GetSessionRequest, options?: CallOptions): Promise<GetSessionResponse> {
        return this.#calls.unary(GET_SESSION, request, options);
    }

    /**
     * Sets the policy for automatic pruning and summaries of a session; without sessionId, the namespace's default
     * policy. The given policy replaces the previous one as a whole.
     */
    setPolicy(request: SetPolicyRequest, options?: CallOptions): Promise<SetPolicyResponse> {
        return this.#calls.unary(SET_POLICY, request, options);
    }

    /**
     * Erases a session from every layer, including facts that come from this session only. NOT_FOUND, also in a
     * dry run, if no layer stores anything of the session.
     */
    deleteSession(request: DeleteSessionRequest, options?: CallOptions): Promise<DeleteSessionResponse> {
        return this.#calls.unary(DELETE_SESSION, request, options);
    }

    /**
     * Erases one message from every layer, and everything that was derived from this message only. NOT_FOUND when
     * the session has no such message.
     */
    forgetMessage(request: ForgetMessageRequest, options?: CallOptions): Promise<ForgetMessageResponse> {
        return this.#calls.unary(FORGET_MESSAGE, request, options);
    }

    /**
     * Erases a user from every layer: all of the user's sessions, facts, patterns, summaries, artifacts and
     * documents.
     */
    forgetUser(request: ForgetUserRequest, options?: CallOptions): Promise<ForgetUserResponse> {
        return this.#calls.unary(FORGET_USER, request, options);
    }

    /**
     * Streams the stored records, one per response, in an order that Import accepts. To resume an interrupted
     * stream, pass the last received cursor.
     *
     * Nothing is sent before the answers are read, and whoever stops reading ends it. It has no deadline but the
     * one given here.
     */
    export(request: ExportRequest, options?: CallOptions): AsyncGenerator<ExportResponse, void, undefined> {
        return this.#calls.answers(EXPORT, request, options);
    }

    /**
     * Stores records of an archive or of another system's history. Sends one response per durable batch, so that
     * an interrupted import can resume. Records that exist already are counted as duplicates and change nothing.
     * An invalid record ends the stream with its error; acknowledged records stay stored.
     *
     * Nothing is sent before the answers are read, and whoever stops reading ends it. It has no deadline but the
     * one given here.
     */
    import(
        requests: Iterable<ImportRequest> | AsyncIterable<ImportRequest>,
        options?: CallOptions,
    ): AsyncGenerator<ImportResponse, void, undefined> {
        return this.#calls.exchanged(IMPORT, requests, options);
    }

    /**
     * Streams change events, from now on or from a cursor. Ends when the caller cancels, or with UNAVAILABLE when
     * the sidecar stops.
     *
     * Nothing is sent before the answers are read, and whoever stops reading ends it. It has no deadline but the
     * one given here.
     */
    watch(request: WatchRequest, options?: CallOptions): AsyncGenerator<WatchResponse, void, undefined> {
        return this.#calls.answers(WATCH, request, options);
    }

    /**
     * Stores facts atomically. When the call returns, they are on disk. A fact with the key of a current fact and
     * another value supersedes it; the superseded fact stays in the history. A fact with the same value only
     * updates lastUpdated. A fact whose own validFrom or lastUpdated is earlier than the current fact's goes into
     * the history at once; a fact without times is the newest. Facts that the server extracts from messages never
     * supersede a pinned fact.
     *
     * Keys and values are compared without case, white space and a full stop at the end.
     *
     * Errors: INVALID_ARGUMENT for an invalid field, with its path ("facts[1].key"); FAILED_PRECONDITION
     * (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a request of more than 3 MiB; DISK_FULL).
     */
    putFacts(request: PutFactsRequest, options?: CallOptions): Promise<PutFactsResponse> {
        return this.#calls.unary(PUT_FACTS, request, options);
    }

    /**
     * Reads the current facts of a user (or of a session without a user), ordered by confidence (highest first),
     * then lastUpdated (newest first), then id. If there are more than 10,000, only the most recently updated are
     * considered.
     */
    listFacts(request: ListFactsRequest, options?: CallOptions): Promise<ListFactsResponse> {
        return this.#calls.unary(LIST_FACTS, request, options);
    }

    /** Goes through all pages of `listFacts`, each asked for when it is needed. `options` are for each page. */
    facts(request: Omit<ListFactsRequest, "pageToken">, options?: CallOptions): AsyncGenerator<Fact, void, undefined> {
        return this.#calls.pages(LIST_FACTS, request, "facts", options);
    }

    /**
     * Erases one fact, current or superseded, from every file. NOT_FOUND when the user has no fact with this id.
     * Erasing a fact does not restore the fact that it superseded.
     */
    deleteFact(request: DeleteFactRequest, options?: CallOptions): Promise<DeleteFactResponse> {
        return this.#calls.unary(DELETE_FACT, request, options);
    }

    /**
     * Stores a compact tool result, or moves a large tool result out of the window (`offloadMessageId`): the
     * server stores the artifact first, then replaces the message in the window by a preview. When the call
     * returns, the artifact is on disk. The call is idempotent.
     *
     * Errors: INVALID_ARGUMENT for an invalid field; NOT_FOUND for an unknown message; FAILED_PRECONDITION
     * (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a content of more than 1 MiB, setting
     * max_message_bytes; DISK_FULL).
     */
    putArtifact(request: PutArtifactRequest, options?: CallOptions): Promise<PutArtifactResponse> {
        return this.#calls.unary(PUT_ARTIFACT, request, options);
    }

    /** Reads the artifacts of a session, newest first by createTime, then by id. Expired artifacts are omitted. */
    listArtifacts(request: ListArtifactsRequest, options?: CallOptions): Promise<ListArtifactsResponse> {
        return this.#calls.unary(LIST_ARTIFACTS, request, options);
    }

    /** Goes through all pages of `listArtifacts`, each asked for when it is needed. `options` are for each page. */
    artifacts(
        request: Omit<ListArtifactsRequest, "pageToken">,
        options?: CallOptions,
    ): AsyncGenerator<Artifact, void, undefined> {
        return this.#calls.pages(LIST_ARTIFACTS, request, "artifacts", options);
    }

    /**
     * Erases one artifact from every file. NOT_FOUND when the session has no artifact with this id. An offloaded
     * message stays stored, and its preview stays in the window.
     */
    deleteArtifact(request: DeleteArtifactRequest, options?: CallOptions): Promise<DeleteArtifactResponse> {
        return this.#calls.unary(DELETE_ARTIFACT, request, options);
    }

    /**
     * Stores a document and its chunks. When the call returns, they are on disk, and every later search finds
     * them. An identical document changes nothing (`unchanged`). A new text replaces all chunks atomically: no
     * search sees chunks of both versions. A new title, source or metadata with the same text replaces only these
     * fields.
     *
     * Errors: INVALID_ARGUMENT for an invalid field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH);
     * RESOURCE_EXHAUSTED (TOO_LARGE for a text of more than 3 MiB, setting max_document_bytes, or of more than
     * 50,000 chunks; DISK_FULL).
     */
    putDocument(request: PutDocumentRequest, options?: CallOptions): Promise<PutDocumentResponse> {
        return this.#calls.unary(PUT_DOCUMENT, request, options);
    }

    /** Lists the documents of the namespace, a user or a session, without their text, ordered by id. */
    listDocuments(request: ListDocumentsRequest, options?: CallOptions): Promise<ListDocumentsResponse> {
        return this.#calls.unary(LIST_DOCUMENTS, request, options);
    }

    /** Goes through all pages of `listDocuments`, each asked for when it is needed. `options` are for each page. */
    documents(
        request: Omit<ListDocumentsRequest, "pageToken">,
        options?: CallOptions,
    ): AsyncGenerator<Document, void, undefined> {
        return this.#calls.pages(LIST_DOCUMENTS, request, "documents", options);
    }

    /**
     * Erases a document and its chunks from every file. NOT_FOUND when the namespace, user or session that the
     * request names has no document with this id.
     */
    deleteDocument(request: DeleteDocumentRequest, options?: CallOptions): Promise<DeleteDocumentResponse> {
        return this.#calls.unary(DELETE_DOCUMENT, request, options);
    }

    /**
     * Finds chunks of the documents that are visible to the caller, best first: the namespace's, the user's and
     * the session's documents together. Chunks are ranked like messages in the hybrid mode of Search, with
     * adjacent chunks as neighbours and the document in place of the session. Titles are not searched. A document
     * is found as soon as it is stored, and no longer found once it is replaced or deleted. While the index is
     * unavailable, the search ranks the documents with the lowest ids: up to 200 documents and 2,000 chunks of
     * each owner.
     */
    searchDocuments(request: SearchDocumentsRequest, options?: CallOptions): Promise<SearchDocumentsResponse> {
        return this.#calls.unary(SEARCH_DOCUMENTS, request, options);
    }

    /**
     * Reads the stored rolling summary of a session. A background task updates it every few messages (settings
     * summary_every_messages, summary_tail_tokens), and so do Summarize and Prune. FAILED_PRECONDITION
     * (SESSION_OWNER_MISMATCH).
     */
    getSummary(request: GetSummaryRequest, options?: CallOptions): Promise<GetSummaryResponse> {
        return this.#calls.unary(GET_SUMMARY, request, options);
    }

    /**
     * Updates the rolling summary through the newest message, stores it on disk and returns it. An empty or failed
     * result never replaces an existing summary; the existing summary is returned instead. The summary covers
     * pruned messages, not erased messages.
     *
     * Errors: INVALID_ARGUMENT for an invalid field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH);
     * RESOURCE_EXHAUSTED (DISK_FULL).
     */
    summarize(request: SummarizeRequest, options?: CallOptions): Promise<SummarizeResponse> {
        return this.#calls.unary(SUMMARIZE, request, options);
    }

    /**
     * Reads the patterns that recur in a user's conversations. A pattern is reported only if its frequency is
     * statistically significant, and `evidence` says how often it was observed. Errors: INVALID_ARGUMENT for an
     * invalid field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); with `refresh` RESOURCE_EXHAUSTED (DISK_FULL).
     */
    getPatterns(request: GetPatternsRequest, options?: CallOptions): Promise<GetPatternsResponse> {
        return this.#calls.unary(GET_PATTERNS, request, options);
    }
}
