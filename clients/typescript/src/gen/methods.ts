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
     * Appends one message. When this answers, the message is on disk and every later read sees it.
     *
     * Errors: INVALID_ARGUMENT for a wrong field; ALREADY_EXISTS (ID_CONFLICT) for a known id with another body;
     * ABORTED (SEQUENCE_MISMATCH) when expectedSequence does not match; RESOURCE_EXHAUSTED (TOO_LARGE, DISK_FULL).
     */
    add(request: AddRequest, options?: CallOptions): Promise<AddResponse> {
        return this.#calls.unary(ADD, request, options);
    }

    /**
     * Appends messages of one session, all or nothing, in one acknowledgement. Errors as with Add; after an error
     * nothing of the batch is stored.
     */
    addBatch(request: AddBatchRequest, options?: CallOptions): Promise<AddBatchResponse> {
        return this.#calls.unary(ADD_BATCH, request, options);
    }

    /**
     * Appends in bulk: one answer per request, in order, each sent when durable. An invalid request ends the
     * stream with its error; what was answered stays. Requests of one stream may name different sessions.
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
     * Appends one user and one assistant message as one turn, all or nothing. Idempotent by interactionId. Errors
     * as with Add.
     */
    storeInteraction(request: StoreInteractionRequest, options?: CallOptions): Promise<StoreInteractionResponse> {
        return this.#calls.unary(STORE_INTERACTION, request, options);
    }

    /**
     * Sets what is learned about a message later: its evaluation score and tags. NOT_FOUND when the session has no
     * such message. Its content, its tokens and its place do not change.
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
     * Finds messages, best first: by a substring, by words, by meaning, or by words and meaning together (mode).
     *
     * Sees every acknowledged message at once, pruned ones included, and none that was erased. Looks at the
     * content and at the names and arguments of tool calls; in the substring mode at the content alone; never at
     * reasoning. Only what the request names filters: there is no hidden threshold. An unknown session is answered
     * empty. When the index or the embedder is away, the rest answers and `degraded` says so.
     *
     * Pages are as of the first page: what was added since is neither in them nor moves anything from one to
     * another. In a whole namespace, and for a user with more than fits into memory, they end with the candidates
     * of the ranking (SearchRequest.limit).
     *
     * Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH).
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
     * Brings a session under a budget. Pruned messages leave the window, not the memory: Search and episodic
     * retrieval still find them. System messages stay, a tool call is never parted from its results, and the
     * newest minMessages stay even when that leaves the session over budget (`overBudget`).
     */
    prune(request: PruneRequest, options?: CallOptions): Promise<PruneResponse> {
        return this.#calls.unary(PRUNE, request, options);
    }

    /**
     * Erases the session's messages and summary, from every layer. Facts stay; sequences go on. An unknown session
     * is answered with a removedCount of 0.
     */
    clear(request: ClearRequest, options?: CallOptions): Promise<ClearResponse> {
        return this.#calls.unary(CLEAR, request, options);
    }

    /**
     * Builds what the model should see, within a budget, and accounts for it. Changes nothing that a caller
     * stored; a short conversation whose summary is due gets it now and not some moments later. What cannot be
     * retrieved in time, or because the index or the embedder is away, is left out, and `degraded` says so.
     *
     * Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (BUDGET_TOO_SMALL, with required_tokens in
     * the metadata, when what must stay does not fit; SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a
     * context of more than 4 MiB).
     */
    buildContext(request: BuildContextRequest, options?: CallOptions): Promise<BuildContextResponse> {
        return this.#calls.unary(BUILD_CONTEXT, request, options);
    }

    /** Tells what the provider charged, so that estimates for that model are corrected. */
    reportUsage(request: ReportUsageRequest, options?: CallOptions): Promise<ReportUsageResponse> {
        return this.#calls.unary(REPORT_USAGE, request, options);
    }

    /** Newest activity first. */
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

    /** Reads one session. An unknown one answers an empty GetSessionResponse, without `session`. */
    getSession(request: GetSessionRequest, options?: CallOptions): Promise<GetSessionResponse> {
        return this.#calls.unary(GET_SESSION, request, options);
    }

    /**
     * Sets how a session prunes and summarises itself; without sessionId, the namespace's default. The given
     * policy replaces the one before as a whole.
     */
    setPolicy(request: SetPolicyRequest, options?: CallOptions): Promise<SetPolicyResponse> {
        return this.#calls.unary(SET_POLICY, request, options);
    }

    /**
     * Erases a session from every layer, facts that came from it alone included. NOT_FOUND, in a dry run, too, for
     * a session of which no layer keeps anything.
     */
    deleteSession(request: DeleteSessionRequest, options?: CallOptions): Promise<DeleteSessionResponse> {
        return this.#calls.unary(DELETE_SESSION, request, options);
    }

    /**
     * Erases one message from every layer and what was derived from it alone. NOT_FOUND when the session has no
     * such message.
     */
    forgetMessage(request: ForgetMessageRequest, options?: CallOptions): Promise<ForgetMessageResponse> {
        return this.#calls.unary(FORGET_MESSAGE, request, options);
    }

    /** Erases a user from every layer: all their sessions, facts, patterns, summaries, artifacts and documents. */
    forgetUser(request: ForgetUserRequest, options?: CallOptions): Promise<ForgetUserResponse> {
        return this.#calls.unary(FORGET_USER, request, options);
    }

    /**
     * Streams what is stored, one record an answer, in an order that Import accepts. A stream that broke off goes
     * on after the last cursor that was received.
     *
     * Nothing is sent before the answers are read, and whoever stops reading ends it. It has no deadline but the
     * one given here.
     */
    export(request: ExportRequest, options?: CallOptions): AsyncGenerator<ExportResponse, void, undefined> {
        return this.#calls.answers(EXPORT, request, options);
    }

    /**
     * Stores records of an archive, or of a history from elsewhere. One answer per durable batch, so that an
     * interrupted import can go on. Records that are there already are counted as duplicates and change nothing.
     * An invalid record ends the stream with its error; what was answered stays.
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
     * What happens from now on, or from a cursor. Ends when the caller cancels, or with UNAVAILABLE when the
     * sidecar stops.
     *
     * Nothing is sent before the answers are read, and whoever stops reading ends it. It has no deadline but the
     * one given here.
     */
    watch(request: WatchRequest, options?: CallOptions): AsyncGenerator<WatchResponse, void, undefined> {
        return this.#calls.answers(WATCH, request, options);
    }

    /**
     * Stores facts, all or nothing; when this answers, they are on disk. One with the key of a current fact and
     * another value supersedes it; the old one stays in the history. One with the same value is seen again: its
     * lastUpdated moves, nothing else. One with times of its own that holds since earlier than the current one, or
     * was last seen earlier, goes into the history at once; one without is the newest. Facts that were learned
     * from messages never supersede a pinned one.
     *
     * Spelling does not make another value or key: case, white space and a full stop at the end do not count.
     *
     * Errors: INVALID_ARGUMENT for a wrong field, with its path ("facts[1].key"); FAILED_PRECONDITION
     * (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a request of more than 3 MiB; DISK_FULL).
     */
    putFacts(request: PutFactsRequest, options?: CallOptions): Promise<PutFactsResponse> {
        return this.#calls.unary(PUT_FACTS, request, options);
    }

    /**
     * Reads the current facts of a user (or of a session without a user), most confident first, then those seen
     * last, then by id. Of more than 10,000, those seen last are looked at.
     */
    listFacts(request: ListFactsRequest, options?: CallOptions): Promise<ListFactsResponse> {
        return this.#calls.unary(LIST_FACTS, request, options);
    }

    /** Goes through all pages of `listFacts`, each asked for when it is needed. `options` are for each page. */
    facts(request: Omit<ListFactsRequest, "pageToken">, options?: CallOptions): AsyncGenerator<Fact, void, undefined> {
        return this.#calls.pages(LIST_FACTS, request, "facts", options);
    }

    /**
     * Erases one fact, current or superseded, from every file. NOT_FOUND when the user has none with this id. A
     * superseded one does not come back when the one that superseded it is erased.
     */
    deleteFact(request: DeleteFactRequest, options?: CallOptions): Promise<DeleteFactResponse> {
        return this.#calls.unary(DELETE_FACT, request, options);
    }

    /**
     * Stores a compact result of a tool; when this answers, it is on disk. Or moves a large one out of the window
     * (`offloadMessageId`): first the artifact is stored, then the message is shown as a preview. To repeat the
     * call is harmless.
     *
     * Errors: INVALID_ARGUMENT for a wrong field; NOT_FOUND (NOT_FOUND for a message that is not there);
     * FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a content of more than 1
     * MiB, setting max_message_bytes; DISK_FULL).
     */
    putArtifact(request: PutArtifactRequest, options?: CallOptions): Promise<PutArtifactResponse> {
        return this.#calls.unary(PUT_ARTIFACT, request, options);
    }

    /** Reads the artifacts of a session, newest first by createTime, then by id; expired ones are left out. */
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
     * Erases one artifact, from every file. NOT_FOUND when the session has none with this id. The message that it
     * held stays stored, and its preview in the window stays a preview.
     */
    deleteArtifact(request: DeleteArtifactRequest, options?: CallOptions): Promise<DeleteArtifactResponse> {
        return this.#calls.unary(DELETE_ARTIFACT, request, options);
    }

    /**
     * Stores a document and its chunks. When this answers, they are on disk, and every later search finds them.
     * The same document again does nothing (`unchanged`); another text replaces the chunks all at once, and nobody
     * sees a part of either; another title, source or metadata alone replaces just these.
     *
     * Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED
     * (TOO_LARGE for a text of more than 3 MiB, setting max_document_bytes, or of more than 50,000 chunks;
     * DISK_FULL).
     */
    putDocument(request: PutDocumentRequest, options?: CallOptions): Promise<PutDocumentResponse> {
        return this.#calls.unary(PUT_DOCUMENT, request, options);
    }

    /**
     * Reads what documents were put for the namespace, a user or a session, without their text, in the order of
     * their ids.
     */
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
     * Erases a document and its chunks, from every file. NOT_FOUND when none with this id was put for the
     * namespace, user or session that the request names.
     */
    deleteDocument(request: DeleteDocumentRequest, options?: CallOptions): Promise<DeleteDocumentResponse> {
        return this.#calls.unary(DELETE_DOCUMENT, request, options);
    }

    /**
     * Finds chunks of the documents that the caller may see, best first: the namespace's, the user's and the
     * session's together. Ranked like messages in the hybrid mode of Search, with the chunks around in place of
     * the messages around, and the document in place of the session; titles are not looked at. A document is found
     * as soon as it is put, and not any more once it is replaced or deleted. While the index is away, the
     * documents of the first ids are ranked: up to 200 of them, and 2,000 chunks, of each owner.
     */
    searchDocuments(request: SearchDocumentsRequest, options?: CallOptions): Promise<SearchDocumentsResponse> {
        return this.#calls.unary(SEARCH_DOCUMENTS, request, options);
    }

    /**
     * Reads the rolling summary of a session, as it is: made in the background every few messages (settings
     * summary_every_messages, summary_tail_tokens), and by Summarize and Prune. FAILED_PRECONDITION
     * (SESSION_OWNER_MISMATCH).
     */
    getSummary(request: GetSummaryRequest, options?: CallOptions): Promise<GetSummaryResponse> {
        return this.#calls.unary(GET_SUMMARY, request, options);
    }

    /**
     * Brings the rolling summary up to now, and answers it; it is then on disk. An empty or failed result never
     * replaces a good summary: the answer is then the one that was there. Pruned messages are spoken for, too,
     * erased ones are not.
     *
     * Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED
     * (DISK_FULL).
     */
    summarize(request: SummarizeRequest, options?: CallOptions): Promise<SummarizeResponse> {
        return this.#calls.unary(SUMMARIZE, request, options);
    }

    /**
     * Reads what recurs in a user's conversations. Only what is seen often enough to be no accident is a pattern,
     * and each says how often. Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION
     * (SESSION_OWNER_MISMATCH); with `refresh` RESOURCE_EXHAUSTED (DISK_FULL).
     */
    getPatterns(request: GetPatternsRequest, options?: CallOptions): Promise<GetPatternsResponse> {
        return this.#calls.unary(GET_PATTERNS, request, options);
    }
}
