// Made by ./generate.sh out of the contract; do not edit.

use futures_core::Stream;

use super::messages::*;
use crate::{Client, Error, ResultStream};

/// The conversation and the context built from it.
impl Client {
    /// Appends one message. When this answers, the message is on disk and every later read sees it.
    ///
    /// Errors: INVALID_ARGUMENT for a wrong field; ALREADY_EXISTS (ID_CONFLICT) for a known id with another
    /// body; ABORTED (SEQUENCE_MISMATCH) when expected_sequence does not match; RESOURCE_EXHAUSTED (TOO_LARGE,
    /// DISK_FULL).
    ///
    /// Where an id is missing, the client makes it, so that the call is safe to send again.
    pub async fn add(&self, mut request: AddRequest) -> Result<AddResponse, Error> {
        request.identify();
        self.call("/memsidecar.v1.MemoryService/Add", request).await
    }

    /// Appends messages of one session, all or nothing, in one acknowledgement. Errors as with Add; after an
    /// error nothing of the batch is stored.
    ///
    /// Where an id is missing, the client makes it, so that the call is safe to send again.
    pub async fn add_batch(&self, mut request: AddBatchRequest) -> Result<AddBatchResponse, Error> {
        request.identify();
        self.call("/memsidecar.v1.MemoryService/AddBatch", request).await
    }

    /// Appends in bulk: one answer per request, in order, each sent when durable. An invalid request ends the
    /// stream with its error; what was answered stays. Requests of one stream may name different sessions.
    ///
    /// A stream that breaks off goes on with what is not answered yet, and ids that are missing
    /// are made by the client, so nothing is stored twice.
    ///
    /// Nothing is sent before the answers are read, and whoever stops reading ends it.
    pub fn add_stream<S>(&self, requests: S) -> ResultStream<AddStreamResponse>
    where
        S: Stream<Item = AddStreamRequest> + Send + 'static,
    {
        self.replayed("/memsidecar.v1.MemoryService/AddStream", requests)
    }

    /// Appends one user and one assistant message as one turn, all or nothing. Idempotent by interaction_id.
    /// Errors as with Add.
    ///
    /// Where an id is missing, the client makes it, so that the call is safe to send again.
    pub async fn store_interaction(
        &self,
        mut request: StoreInteractionRequest,
    ) -> Result<StoreInteractionResponse, Error> {
        request.identify();
        self.call("/memsidecar.v1.MemoryService/StoreInteraction", request)
            .await
    }

    /// Sets what is learned about a message later: its evaluation score and tags. NOT_FOUND when the session has
    /// no such message. Its content, its tokens and its place do not change.
    pub async fn annotate(&self, request: AnnotateRequest) -> Result<AnnotateResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/Annotate", request).await
    }

    /// Reads a session page by page, oldest first.
    pub async fn get_all(&self, request: GetAllRequest) -> Result<GetAllResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/GetAll", request).await
    }

    /// Goes through all pages of [`get_all`](Self::get_all), each asked for when it is needed.
    ///
    /// The deadline is for each page.
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

    /// Finds messages, best first: by a substring, by words, by meaning, or by words and meaning together
    /// (mode).
    ///
    /// Sees every acknowledged message at once, pruned ones included, and none that was erased. Looks at the
    /// content and at the names and arguments of tool calls; in the substring mode at the content alone; never
    /// at reasoning. Only what the request names filters: there is no hidden threshold. An unknown session is
    /// answered empty. When the index or the embedder is away, the rest answers and `degraded` says so.
    ///
    /// Pages are as of the first page: what was added since is neither in them nor moves anything from one to
    /// another. In a whole namespace, and for a user with more than fits into memory, they end with the
    /// candidates of the ranking (SearchRequest.limit).
    ///
    /// Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH).
    pub async fn search(&self, request: SearchRequest) -> Result<SearchResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/Search", request).await
    }

    /// Goes through all pages of [`search`](Self::search), each asked for when it is needed.
    ///
    /// The deadline is for each page.
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

    /// Brings a session under a budget. Pruned messages leave the window, not the memory: Search and episodic
    /// retrieval still find them. System messages stay, a tool call is never parted from its results, and the
    /// newest min_messages stay even when that leaves the session over budget (`over_budget`).
    ///
    /// After a lost answer it is sent again, and may say then that nothing was there to do, because the first
    /// attempt did the work.
    pub async fn prune(&self, request: PruneRequest) -> Result<PruneResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/Prune", request).await
    }

    /// Erases the session's messages and summary, from every layer. Facts stay; sequences go on. An unknown
    /// session is answered with a removed_count of 0.
    ///
    /// After a lost answer it is sent again, and may say then that nothing was there to do, because the first
    /// attempt did the work.
    pub async fn clear(&self, request: ClearRequest) -> Result<ClearResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/Clear", request).await
    }

    /// Builds what the model should see, within a budget, and accounts for it. Changes nothing that a caller stored; a
    /// short conversation whose summary is due gets it now and not some moments later. What cannot be retrieved in time,
    /// or because the index or the embedder is away, is left out, and `degraded` says so.
    ///
    /// Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (BUDGET_TOO_SMALL, with required_tokens in the
    /// metadata, when what must stay does not fit; SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a context of more
    /// than 4 MiB).
    pub async fn build_context(&self, request: BuildContextRequest) -> Result<BuildContextResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/BuildContext", request).await
    }

    /// Tells what the provider charged, so that estimates for that model are corrected.
    ///
    /// It has no id, and counts each time: it is sent again only where the sidecar refused it with a reason,
    /// and never where the connection broke.
    pub async fn report_usage(&self, request: ReportUsageRequest) -> Result<ReportUsageResponse, Error> {
        self.call("/memsidecar.v1.MemoryService/ReportUsage", request).await
    }
}

/// Sessions as things: their policies, their end, their way in and out.
impl Client {
    /// Newest activity first.
    pub async fn list_sessions(&self, request: ListSessionsRequest) -> Result<ListSessionsResponse, Error> {
        self.call("/memsidecar.v1.SessionService/ListSessions", request).await
    }

    /// Goes through all pages of [`list_sessions`](Self::list_sessions), each asked for when it is needed.
    ///
    /// The deadline is for each page.
    pub fn sessions(&self, request: ListSessionsRequest) -> ResultStream<Session> {
        self.pages(
            "/memsidecar.v1.SessionService/ListSessions",
            request,
            |request, token| request.page_token = token,
            |page: ListSessionsResponse| (page.sessions, page.next_page_token),
        )
    }

    /// Reads one session. An unknown one answers an empty GetSessionResponse, without `session`.
    pub async fn get_session(&self, request: GetSessionRequest) -> Result<GetSessionResponse, Error> {
        self.call("/memsidecar.v1.SessionService/GetSession", request).await
    }

    /// Sets how a session prunes and summarises itself; without session_id, the namespace's default. The given
    /// policy replaces the one before as a whole.
    pub async fn set_policy(&self, request: SetPolicyRequest) -> Result<SetPolicyResponse, Error> {
        self.call("/memsidecar.v1.SessionService/SetPolicy", request).await
    }

    /// Erases a session from every layer, facts that came from it alone included. NOT_FOUND, in a dry run, too, for
    /// a session of which no layer keeps anything.
    ///
    /// After a lost answer it is sent again, and may end with `NotFound` then, because the first attempt did
    /// the work.
    pub async fn delete_session(&self, request: DeleteSessionRequest) -> Result<DeleteSessionResponse, Error> {
        self.call("/memsidecar.v1.SessionService/DeleteSession", request).await
    }

    /// Erases one message from every layer and what was derived from it alone. NOT_FOUND when the session has no
    /// such message.
    pub async fn forget_message(&self, request: ForgetMessageRequest) -> Result<ForgetMessageResponse, Error> {
        self.call("/memsidecar.v1.SessionService/ForgetMessage", request).await
    }

    /// Erases a user from every layer: all their sessions, facts, patterns, summaries, artifacts and documents.
    pub async fn forget_user(&self, request: ForgetUserRequest) -> Result<ForgetUserResponse, Error> {
        self.call("/memsidecar.v1.SessionService/ForgetUser", request).await
    }

    /// Streams what is stored, one record an answer, in an order that Import accepts. A stream that broke off
    /// goes on after the last cursor that was received.
    ///
    /// It is sent again until something was answered; go on after the last `cursor` if it breaks off later.
    ///
    /// Nothing is sent before the answers are read, and whoever stops reading ends it.
    pub fn export(&self, request: ExportRequest) -> ResultStream<ExportResponse> {
        self.answers("/memsidecar.v1.SessionService/Export", request)
    }

    /// Stores records of an archive, or of a history from elsewhere. One answer per durable batch, so that an
    /// interrupted import can go on. Records that are there already are counted as duplicates and change
    /// nothing. An invalid record ends the stream with its error; what was answered stays.
    ///
    /// It is sent once: a stream that breaks off is the caller's to send again.
    ///
    /// Nothing is sent before the answers are read, and whoever stops reading ends it.
    pub fn import<S>(&self, requests: S) -> ResultStream<ImportResponse>
    where
        S: Stream<Item = ImportRequest> + Send + 'static,
    {
        self.exchanged("/memsidecar.v1.SessionService/Import", requests)
    }

    /// What happens from now on, or from a cursor. Ends when the caller cancels, or with UNAVAILABLE when the
    /// sidecar stops.
    ///
    /// It is sent again until something was answered; go on after the last `cursor` if it breaks off later.
    ///
    /// Nothing is sent before the answers are read, and whoever stops reading ends it.
    pub fn watch(&self, request: WatchRequest) -> ResultStream<WatchResponse> {
        self.answers("/memsidecar.v1.SessionService/Watch", request)
    }
}

/// What was learned, and what was given to know: facts, patterns, summaries, artifacts, documents.
impl Client {
    /// Stores facts, all or nothing; when this answers, they are on disk. One with the key of a current fact and
    /// another value supersedes it; the old one stays in the history. One with the same value is seen again: its
    /// last_updated moves, nothing else. One with times of its own that holds since earlier than the current one,
    /// or was last seen earlier, goes into the history at once; one without is the newest. Facts that were learned
    /// from messages never supersede a pinned one.
    ///
    /// Spelling does not make another value or key: case, white space and a full stop at the end do not count.
    ///
    /// Errors: INVALID_ARGUMENT for a wrong field, with its path ("facts\[1].key"); FAILED_PRECONDITION
    /// (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a request of more than 3 MiB; DISK_FULL).
    pub async fn put_facts(&self, request: PutFactsRequest) -> Result<PutFactsResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/PutFacts", request).await
    }

    /// Reads the current facts of a user (or of a session without a user), most confident first, then those seen
    /// last, then by id. Of more than 10,000, those seen last are looked at.
    pub async fn list_facts(&self, request: ListFactsRequest) -> Result<ListFactsResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/ListFacts", request).await
    }

    /// Goes through all pages of [`list_facts`](Self::list_facts), each asked for when it is needed.
    ///
    /// The deadline is for each page.
    pub fn facts(&self, request: ListFactsRequest) -> ResultStream<Fact> {
        self.pages(
            "/memsidecar.v1.KnowledgeService/ListFacts",
            request,
            |request, token| request.page_token = token,
            |page: ListFactsResponse| (page.facts, page.next_page_token),
        )
    }

    /// Erases one fact, current or superseded, from every file. NOT_FOUND when the user has none with this id. A
    /// superseded one does not come back when the one that superseded it is erased.
    pub async fn delete_fact(&self, request: DeleteFactRequest) -> Result<DeleteFactResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/DeleteFact", request).await
    }

    /// Stores a compact result of a tool; when this answers, it is on disk. Or moves a large one out of the window
    /// (`offload_message_id`): first the artifact is stored, then the message is shown as a preview. To repeat the
    /// call is harmless.
    ///
    /// Errors: INVALID_ARGUMENT for a wrong field; NOT_FOUND (NOT_FOUND for a message that is not there);
    /// FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a content of more than 1 MiB,
    /// setting max_message_bytes; DISK_FULL).
    ///
    /// Where an id is missing, the client makes it, so that the call is safe to send again.
    pub async fn put_artifact(&self, mut request: PutArtifactRequest) -> Result<PutArtifactResponse, Error> {
        request.identify();
        self.call("/memsidecar.v1.KnowledgeService/PutArtifact", request).await
    }

    /// Reads the artifacts of a session, newest first by create_time, then by id; expired ones are left out.
    pub async fn list_artifacts(&self, request: ListArtifactsRequest) -> Result<ListArtifactsResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/ListArtifacts", request)
            .await
    }

    /// Goes through all pages of [`list_artifacts`](Self::list_artifacts), each asked for when it is needed.
    ///
    /// The deadline is for each page.
    pub fn artifacts(&self, request: ListArtifactsRequest) -> ResultStream<Artifact> {
        self.pages(
            "/memsidecar.v1.KnowledgeService/ListArtifacts",
            request,
            |request, token| request.page_token = token,
            |page: ListArtifactsResponse| (page.artifacts, page.next_page_token),
        )
    }

    /// Erases one artifact, from every file. NOT_FOUND when the session has none with this id. The message that it
    /// held stays stored, and its preview in the window stays a preview.
    pub async fn delete_artifact(&self, request: DeleteArtifactRequest) -> Result<DeleteArtifactResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/DeleteArtifact", request)
            .await
    }

    /// Stores a document and its chunks. When this answers, they are on disk, and every later search finds them.
    /// The same document again does nothing (`unchanged`); another text replaces the chunks all at once, and
    /// nobody sees a part of either; another title, source or metadata alone replaces just these.
    ///
    /// Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED
    /// (TOO_LARGE for a text of more than 3 MiB, setting max_document_bytes, or of more than 50,000 chunks;
    /// DISK_FULL).
    pub async fn put_document(&self, request: PutDocumentRequest) -> Result<PutDocumentResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/PutDocument", request).await
    }

    /// Reads what documents were put for the namespace, a user or a session, without their text, in the order of
    /// their ids.
    pub async fn list_documents(&self, request: ListDocumentsRequest) -> Result<ListDocumentsResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/ListDocuments", request)
            .await
    }

    /// Goes through all pages of [`list_documents`](Self::list_documents), each asked for when it is needed.
    ///
    /// The deadline is for each page.
    pub fn documents(&self, request: ListDocumentsRequest) -> ResultStream<Document> {
        self.pages(
            "/memsidecar.v1.KnowledgeService/ListDocuments",
            request,
            |request, token| request.page_token = token,
            |page: ListDocumentsResponse| (page.documents, page.next_page_token),
        )
    }

    /// Erases a document and its chunks, from every file. NOT_FOUND when none with this id was put for the
    /// namespace, user or session that the request names.
    pub async fn delete_document(&self, request: DeleteDocumentRequest) -> Result<DeleteDocumentResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/DeleteDocument", request)
            .await
    }

    /// Finds chunks of the documents that the caller may see, best first: the namespace's, the user's and the
    /// session's together. Ranked like messages in the hybrid mode of Search, with the chunks around in place of
    /// the messages around, and the document in place of the session; titles are not looked at. A document is
    /// found as soon as it is put, and not any more once it is replaced or deleted. While the index is away, the
    /// documents of the first ids are ranked: up to 200 of them, and 2,000 chunks, of each owner.
    pub async fn search_documents(&self, request: SearchDocumentsRequest) -> Result<SearchDocumentsResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/SearchDocuments", request)
            .await
    }

    /// Reads the rolling summary of a session, as it is: made in the background every few messages (settings
    /// summary_every_messages, summary_tail_tokens), and by Summarize and Prune. FAILED_PRECONDITION (SESSION_OWNER_MISMATCH).
    pub async fn get_summary(&self, request: GetSummaryRequest) -> Result<GetSummaryResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/GetSummary", request).await
    }

    /// Brings the rolling summary up to now, and answers it; it is then on disk. An empty or failed result never
    /// replaces a good summary: the answer is then the one that was there. Pruned messages are spoken for, too, erased
    /// ones are not.
    ///
    /// Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (DISK_FULL).
    pub async fn summarize(&self, request: SummarizeRequest) -> Result<SummarizeResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/Summarize", request).await
    }

    /// Reads what recurs in a user's conversations. Only what is seen often enough to be no accident is a pattern, and
    /// each says how often. Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); with
    /// `refresh` RESOURCE_EXHAUSTED (DISK_FULL).
    pub async fn get_patterns(&self, request: GetPatternsRequest) -> Result<GetPatternsResponse, Error> {
        self.call("/memsidecar.v1.KnowledgeService/GetPatterns", request).await
    }
}
