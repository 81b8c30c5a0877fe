// Made by ./generate.sh out of the contract; do not edit.

use futures_core::Stream;

use super::messages::*;
use crate::{Client, Error, ResultStream};

/// Stores conversations and builds contexts from them.
impl Client {
    /// Appends one message. When the call returns, the message is on disk, and every later read returns it.
    ///
    /// Errors: INVALID_ARGUMENT for an invalid field; ALREADY_EXISTS (ID_CONFLICT) for an existing id with a different
    /// body; ABORTED (SEQUENCE_MISMATCH) when expected_sequence does not match; RESOURCE_EXHAUSTED (TOO_LARGE,
    /// DISK_FULL).
    ///
    /// The client generates missing ids, so that the call is safe to retry.
    pub async fn add(&self, mut request: AddRequest) -> Result<AddResponse, Error> {
        request.identify();
        self.call("/memsidecar.v1.MemoryService/Add", request).await
    }

    /// Appends messages of one session atomically, with one acknowledgement. Errors as with Add; after an error no
    /// message of the batch is stored.
    ///
    /// The client generates missing ids, so that the call is safe to retry.
    pub async fn add_batch(&self, mut request: AddBatchRequest) -> Result<AddBatchResponse, Error> {
        request.identify();
        self.call("/memsidecar.v1.MemoryService/AddBatch", request).await
    }

    /// Appends messages in bulk. Sends one response per request, in order, each when its message is durable. An invalid
    /// request ends the stream with its error; acknowledged messages stay stored. Requests of one stream may name
    /// different sessions.
    ///
    /// An interrupted stream resumes with the unacknowledged messages, and the client generates missing
    /// ids, so that no message is stored twice.
    ///
    /// Nothing is sent before the responses are read. A caller that stops reading ends the stream.
    pub fn add_stream<S>(&self, requests: S) -> ResultStream<AddStreamResponse>
    where
        S: Stream<Item = AddStreamRequest> + Send + 'static,
    {
        self.replayed("/memsidecar.v1.MemoryService/AddStream", requests)
    }

    /// Appends one user message and one assistant message as one turn, atomically. Idempotent by interaction_id. Errors
    /// as with Add.
    ///
    /// The client generates missing ids, so that the call is safe to retry.
    pub async fn store_interaction(
        &self,
        mut request: StoreInteractionRequest,
    ) -> Result<StoreInteractionResponse, Error> {
        request.identify();
        self.call("/memsidecar.v1.MemoryService/StoreInteraction", request)
            .await
    }

    /// Sets the evaluation score and the metadata of a stored message. NOT_FOUND when the session has no such message.
    /// Content, tokens and sequence do not change.
    pub async fn annotate(&self, request: AnnotateRequest) -> Result<AnnotateResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/Annotate", request).await
    }

    /// Reads a session page by page, oldest first.
    pub async fn get_all(&self, request: GetAllRequest) -> Result<GetAllResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/GetAll", request).await
    }

    /// Iterates over all pages of [`get_all`](Self::get_all), each requested when it is needed.
    ///
    /// The deadline applies to each page.
    pub fn messages(&self, request: GetAllRequest) -> ResultStream<Message> {
        self.pages(
            "/memsidecar.v1.MemoryService/GetAll",
            request,
            |request, token| request.page_token = token,
            |page: GetAllResponse| (page.messages, page.next_page_token),
        )
    }

    /// Reads the newest n messages of the window, oldest first.
    pub async fn get_recent(&self, request: GetRecentRequest) -> Result<GetRecentResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/GetRecent", request).await
    }

    /// Reads the messages of one role in the window, oldest first.
    pub async fn get_by_role(&self, request: GetByRoleRequest) -> Result<GetByRoleResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/GetByRole", request).await
    }

    /// Finds messages, best first: by substring, by keywords, by meaning, or by keywords and meaning together (mode).
    ///
    /// A search sees every acknowledged message at once, pruned messages included, erased messages excluded. It searches
    /// the content and the names and arguments of tool calls; in the substring mode, the content only; never the
    /// reasoning. Only the request's own filters apply; there is no hidden threshold. For an unknown session the result
    /// is empty. When the index or the embedder is unavailable, the search uses the remaining signals, and `degraded`
    /// says so.
    ///
    /// All pages show the state at the first page: messages added later neither appear in them nor move hits between
    /// pages. In the scope of a whole namespace, and for a user whose messages do not fit into memory, paging ends with
    /// the last ranked candidate (SearchRequest.limit).
    ///
    /// Errors: INVALID_ARGUMENT for an invalid field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH).
    pub async fn search(&self, request: SearchRequest) -> Result<SearchResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/Search", request).await
    }

    /// Iterates over all pages of [`search`](Self::search), each requested when it is needed.
    ///
    /// The deadline applies to each page.
    pub fn hits(&self, request: SearchRequest) -> ResultStream<SearchHit> {
        self.pages(
            "/memsidecar.v1.MemoryService/Search",
            request,
            |request, token| request.page_token = token,
            |page: SearchResponse| (page.hits, page.next_page_token),
        )
    }

    /// Counts messages and tokens.
    pub async fn count(&self, request: CountRequest) -> Result<CountResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/Count", request).await
    }

    /// Prunes a session to a token budget. Pruned messages leave the window; Search and episodic retrieval still find
    /// them. System messages stay. A tool call and its results stay together. The newest user message and the newest
    /// min_messages stay even if the session then exceeds the budget (`over_budget`).
    ///
    /// After a lost response it is retried. The retry may report that nothing was left to do, because the
    /// first attempt did the work.
    pub async fn prune(&self, request: PruneRequest) -> Result<PruneResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/Prune", request).await
    }

    /// Erases the session's messages and summary from every layer. Facts stay, and sequence numbers continue. For an
    /// unknown session removed_count is 0.
    ///
    /// After a lost response it is retried. The retry may report that nothing was left to do, because the
    /// first attempt did the work.
    pub async fn clear(&self, request: ClearRequest) -> Result<ClearResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/Clear", request).await
    }

    /// Builds the model's context within a token budget and returns a receipt for it. Does not change stored messages;
    /// if the summary of a short conversation is due, it is made now rather than in the background. Results that cannot
    /// be retrieved before the deadline, or because the index or the embedder is unavailable, are omitted, and
    /// `degraded` says so.
    ///
    /// Errors: INVALID_ARGUMENT for an invalid field; FAILED_PRECONDITION (BUDGET_TOO_SMALL, with required_tokens and item
    /// in the metadata, when the mandatory parts do not fit; SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a
    /// context of more than 4 MiB).
    pub async fn build_context(&self, request: BuildContextRequest) -> Result<BuildContextResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/BuildContext", request).await
    }

    /// Reports the tokens that the provider charged. The server corrects its estimates for that model.
    ///
    /// It has no idempotency key and counts each time: it is retried only if the sidecar rejected it with a
    /// reason, never after a broken connection.
    pub async fn report_usage(&self, request: ReportUsageRequest) -> Result<ReportUsageResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/ReportUsage", request).await
    }
}

/// Manages sessions: policies, erasure, export, import and change events.
impl Client {
    /// Lists sessions, the most recently active first.
    pub async fn list_sessions(&self, request: ListSessionsRequest) -> Result<ListSessionsResponse, Error> {
        self.call("/memsidecar.v1.SessionService/ListSessions", request).await
    }

    /// Iterates over all pages of [`list_sessions`](Self::list_sessions), each requested when it is needed.
    ///
    /// The deadline applies to each page.
    pub fn sessions(&self, request: ListSessionsRequest) -> ResultStream<Session> {
        self.pages(
            "/memsidecar.v1.SessionService/ListSessions",
            request,
            |request, token| request.page_token = token,
            |page: ListSessionsResponse| (page.sessions, page.next_page_token),
        )
    }

    /// Reads one session. For an unknown session the response has no `session`.
    pub async fn get_session(&self, request: GetSessionRequest) -> Result<GetSessionResponse, Error> {
        self.call("/memsidecar.v1.SessionService/GetSession", request).await
    }

    /// Lists the users of a namespace: those that own at least one session, fact or document.
    pub async fn list_users(&self, request: ListUsersRequest) -> Result<ListUsersResponse, Error> {
        self.call("/memsidecar.v1.SessionService/ListUsers", request).await
    }

    /// Iterates over all pages of [`list_users`](Self::list_users), each requested when it is needed.
    ///
    /// The deadline applies to each page.
    pub fn users(&self, request: ListUsersRequest) -> ResultStream<User> {
        self.pages(
            "/memsidecar.v1.SessionService/ListUsers",
            request,
            |request, token| request.page_token = token,
            |page: ListUsersResponse| (page.users, page.next_page_token),
        )
    }

    /// Reads what a namespace stores, and the limits of its quota. An unknown namespace stores nothing.
    pub async fn get_usage(&self, request: GetUsageRequest) -> Result<GetUsageResponse, Error> {
        self.call("/memsidecar.v1.SessionService/GetUsage", request).await
    }

    /// Sets the policy for automatic pruning and summaries of a session; without session_id, the namespace's default
    /// policy. The given policy replaces the previous one as a whole.
    pub async fn set_policy(&self, request: SetPolicyRequest) -> Result<SetPolicyResponse, Error> {
        self.call("/memsidecar.v1.SessionService/SetPolicy", request).await
    }

    /// Erases a session from every layer, including facts that come from this session only. NOT_FOUND, also in a dry
    /// run, if no layer stores anything of the session.
    ///
    /// After a lost response it is retried. The retry may fail with `NotFound`, because the first attempt
    /// did the work.
    pub async fn delete_session(&self, request: DeleteSessionRequest) -> Result<DeleteSessionResponse, Error> {
        self.call("/memsidecar.v1.SessionService/DeleteSession", request).await
    }

    /// Erases one message from every layer, and everything that was derived from this message only: facts, the artifact of
    /// an offloaded message, the session's summary (it is made again from the other messages). The other messages of its
    /// exchange are pruned, because an exchange is never split. NOT_FOUND, also in a dry run, when the session has no such
    /// message.
    pub async fn forget_message(&self, request: ForgetMessageRequest) -> Result<ForgetMessageResponse, Error> {
        self.call("/memsidecar.v1.SessionService/ForgetMessage", request).await
    }

    /// Erases a user from every layer: all of the user's sessions, facts, patterns, summaries, artifacts and documents.
    pub async fn forget_user(&self, request: ForgetUserRequest) -> Result<ForgetUserResponse, Error> {
        self.call("/memsidecar.v1.SessionService/ForgetUser", request).await
    }

    /// Streams the stored records, one per response, in an order that Import accepts, as of the position at which the
    /// export began: nothing that is added later is exported. What is changed or erased later is exported as it is when
    /// the stream reaches it. To resume an interrupted stream, pass the last received cursor.
    ///
    /// It is retried until the first response. After that the caller resumes from the last `cursor`.
    ///
    /// Nothing is sent before the responses are read. A caller that stops reading ends the stream.
    pub fn export(&self, request: ExportRequest) -> ResultStream<ExportResponse> {
        self.answers("/memsidecar.v1.SessionService/Export", request)
    }

    /// Stores records of an archive or of another system's history. Sends one response per durable batch, so that an
    /// interrupted import can resume. Records that exist already are counted as duplicates and change nothing. Records of
    /// a message, session or user that was forgotten here are counted and not stored, unless override_erasures is set. An
    /// invalid record ends the stream with its error; acknowledged records stay stored.
    ///
    /// It is sent once: the caller sends an interrupted stream again.
    ///
    /// Nothing is sent before the responses are read. A caller that stops reading ends the stream.
    pub fn import<S>(&self, requests: S) -> ResultStream<ImportResponse>
    where
        S: Stream<Item = ImportRequest> + Send + 'static,
    {
        self.exchanged("/memsidecar.v1.SessionService/Import", requests)
    }

    /// Streams change events in commit order, from now on or from a cursor: each at least once. The first response is a
    /// heartbeat, as soon as the stream is open; further ones follow when nothing happens for 15 seconds (setting
    /// watch_heartbeat_seconds). Ends when the caller cancels, with UNAVAILABLE when the sidecar stops, or with
    /// RESOURCE_EXHAUSTED, reason SLOW_READER, when the caller does not read fast enough.
    ///
    /// It is retried until the first response. After that the caller resumes from the last `cursor`.
    ///
    /// Nothing is sent before the responses are read. A caller that stops reading ends the stream.
    pub fn watch(&self, request: WatchRequest) -> ResultStream<WatchResponse> {
        self.answers("/memsidecar.v1.SessionService/Watch", request)
    }
}

/// Facts, patterns, summaries, artifacts and documents.
impl Client {
    /// Stores facts atomically. When the call returns, they are on disk. A fact with the key of a current fact and
    /// another value supersedes it; the superseded fact stays in the history. A fact with the same value only updates
    /// last_updated. A fact whose own valid_from or last_updated is earlier than the current fact's goes into the
    /// history at once; a fact without times is the newest. Facts that the server extracts from messages never supersede
    /// a pinned fact.
    ///
    /// Keys and values are compared without case, white space and a full stop at the end.
    ///
    /// Errors: INVALID_ARGUMENT for an invalid field, with its path ("facts\[1].key"); FAILED_PRECONDITION
    /// (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a request of more than 3 MiB; DISK_FULL).
    pub async fn put_facts(&self, request: PutFactsRequest) -> Result<PutFactsResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/PutFacts", request).await
    }

    /// Reads the current facts of a user (or of a session without a user), ordered by confidence (highest first), then
    /// last_updated (newest first), then id. If there are more than 10,000, only the most recently updated are
    /// considered.
    pub async fn list_facts(&self, request: ListFactsRequest) -> Result<ListFactsResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/ListFacts", request).await
    }

    /// Iterates over all pages of [`list_facts`](Self::list_facts), each requested when it is needed.
    ///
    /// The deadline applies to each page.
    pub fn facts(&self, request: ListFactsRequest) -> ResultStream<Fact> {
        self.pages(
            "/memsidecar.v1.KnowledgeService/ListFacts",
            request,
            |request, token| request.page_token = token,
            |page: ListFactsResponse| (page.facts, page.next_page_token),
        )
    }

    /// Erases one fact, current or superseded, from every file. NOT_FOUND when the user has no fact with this id.
    /// Erasing a fact does not restore the fact that it superseded.
    pub async fn delete_fact(&self, request: DeleteFactRequest) -> Result<DeleteFactResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/DeleteFact", request).await
    }

    /// Stores a compact tool result, or moves a large tool result out of the window (`offload_message_id`): the server
    /// stores the artifact first, then replaces the message in the window by a preview. When the call returns, the
    /// artifact is on disk. The call is idempotent.
    ///
    /// Errors: INVALID_ARGUMENT for an invalid field; NOT_FOUND for an unknown message; FAILED_PRECONDITION
    /// (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a content of more than 1 MiB, setting
    /// max_message_bytes; DISK_FULL).
    ///
    /// The client generates missing ids, so that the call is safe to retry.
    pub async fn put_artifact(&self, mut request: PutArtifactRequest) -> Result<PutArtifactResponse, Error> {
        request.identify();
        self.call("/memsidecar.v1.KnowledgeService/PutArtifact", request).await
    }

    /// Reads the artifacts of a session, newest first by create_time, then by id. Expired artifacts are omitted.
    pub async fn list_artifacts(&self, request: ListArtifactsRequest) -> Result<ListArtifactsResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/ListArtifacts", request)
            .await
    }

    /// Iterates over all pages of [`list_artifacts`](Self::list_artifacts), each requested when it is needed.
    ///
    /// The deadline applies to each page.
    pub fn artifacts(&self, request: ListArtifactsRequest) -> ResultStream<Artifact> {
        self.pages(
            "/memsidecar.v1.KnowledgeService/ListArtifacts",
            request,
            |request, token| request.page_token = token,
            |page: ListArtifactsResponse| (page.artifacts, page.next_page_token),
        )
    }

    /// Erases one artifact from every file. NOT_FOUND when the session has no artifact with this id. An offloaded
    /// message stays stored, and its preview stays in the window.
    pub async fn delete_artifact(&self, request: DeleteArtifactRequest) -> Result<DeleteArtifactResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/DeleteArtifact", request)
            .await
    }

    /// Stores a document and its chunks. When the call returns, they are on disk, and every later search finds them. An
    /// identical document changes nothing (`unchanged`). A new text replaces all chunks atomically: no search sees
    /// chunks of both versions. A new title, source or metadata with the same text replaces only these fields.
    ///
    /// Errors: INVALID_ARGUMENT for an invalid field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED
    /// (TOO_LARGE for a text of more than 3 MiB, setting max_document_bytes, or of more than 50,000 chunks; DISK_FULL).
    pub async fn put_document(&self, request: PutDocumentRequest) -> Result<PutDocumentResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/PutDocument", request).await
    }

    /// Lists the documents of the namespace, a user or a session, without their text, ordered by id.
    pub async fn list_documents(&self, request: ListDocumentsRequest) -> Result<ListDocumentsResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/ListDocuments", request)
            .await
    }

    /// Iterates over all pages of [`list_documents`](Self::list_documents), each requested when it is needed.
    ///
    /// The deadline applies to each page.
    pub fn documents(&self, request: ListDocumentsRequest) -> ResultStream<Document> {
        self.pages(
            "/memsidecar.v1.KnowledgeService/ListDocuments",
            request,
            |request, token| request.page_token = token,
            |page: ListDocumentsResponse| (page.documents, page.next_page_token),
        )
    }

    /// Erases a document and its chunks from every file. NOT_FOUND when the namespace, user or session that the request
    /// names has no document with this id.
    pub async fn delete_document(&self, request: DeleteDocumentRequest) -> Result<DeleteDocumentResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/DeleteDocument", request)
            .await
    }

    /// Finds chunks of the documents that are visible to the caller, best first: the namespace's, the user's and the
    /// session's documents together. Chunks are ranked like messages in the hybrid mode of Search, with adjacent chunks
    /// as neighbours and the document in place of the session. Titles are not searched. A document is found as soon as
    /// it is stored, and no longer found once it is replaced or deleted. While the index is unavailable, the search
    /// ranks the documents with the lowest ids: up to 200 documents and 2,000 chunks of each owner.
    pub async fn search_documents(&self, request: SearchDocumentsRequest) -> Result<SearchDocumentsResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/SearchDocuments", request)
            .await
    }

    /// Reads the stored rolling summary of a session. A background task updates it every few messages (settings
    /// summary_every_messages, summary_tail_tokens), and so do Summarize and Prune. FAILED_PRECONDITION
    /// (SESSION_OWNER_MISMATCH).
    pub async fn get_summary(&self, request: GetSummaryRequest) -> Result<GetSummaryResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/GetSummary", request).await
    }

    /// Updates the rolling summary through the newest message, stores it on disk and returns it. An empty or failed
    /// result never replaces an existing summary; the existing summary is returned instead. The summary covers pruned
    /// messages, not erased messages.
    ///
    /// Errors: INVALID_ARGUMENT for an invalid field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED
    /// (DISK_FULL).
    pub async fn summarize(&self, request: SummarizeRequest) -> Result<SummarizeResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/Summarize", request).await
    }

    /// Reads the patterns that recur in a user's conversations. A pattern is reported only if its frequency is
    /// statistically significant, and `evidence` says how often it was observed. Errors: INVALID_ARGUMENT for an invalid
    /// field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); with `refresh` RESOURCE_EXHAUSTED (DISK_FULL).
    pub async fn get_patterns(&self, request: GetPatternsRequest) -> Result<GetPatternsResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/GetPatterns", request).await
    }
}
