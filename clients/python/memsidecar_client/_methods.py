"""Made by clients/python/generate.py out of the contract; do not edit."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar_client._calls import Calls
from memsidecar_client._ids import identify, identify_artifact, identify_interaction
from memsidecar_client._requests import built, each_of
from memsidecar_client._timeout import checked
from memsidecar_client.dicts import (
    AddStreamRequestDict,
    FactDict,
    FactTypeName,
    ImportRequestDict,
    MessageDict,
    PruneStrategyName,
    RoleName,
    ScopeName,
    SearchModeName,
    SectionBudgetDict,
    SessionPolicyDict,
    ToolCallDict,
)
from memsidecar_client.v1.context_pb2 import (
    BuildContextRequest,
    BuildContextResponse,
    SectionBudget,
)
from memsidecar_client.v1.knowledge_pb2 import (
    Artifact,
    DeleteArtifactRequest,
    DeleteArtifactResponse,
    DeleteDocumentRequest,
    DeleteDocumentResponse,
    DeleteFactRequest,
    DeleteFactResponse,
    Document,
    Fact,
    FactType,
    GetPatternsRequest,
    GetPatternsResponse,
    GetSummaryRequest,
    GetSummaryResponse,
    ListArtifactsRequest,
    ListArtifactsResponse,
    ListDocumentsRequest,
    ListDocumentsResponse,
    ListFactsRequest,
    ListFactsResponse,
    PutArtifactRequest,
    PutArtifactResponse,
    PutDocumentRequest,
    PutDocumentResponse,
    PutFactsRequest,
    PutFactsResponse,
    SearchDocumentsRequest,
    SearchDocumentsResponse,
    SummarizeRequest,
    SummarizeResponse,
)
from memsidecar_client.v1.memory_pb2 import (
    AddBatchRequest,
    AddBatchResponse,
    AddRequest,
    AddResponse,
    AddStreamRequest,
    AddStreamResponse,
    AnnotateRequest,
    AnnotateResponse,
    ClearRequest,
    ClearResponse,
    CountRequest,
    CountResponse,
    GetAllRequest,
    GetAllResponse,
    GetByRoleRequest,
    GetByRoleResponse,
    GetRecentRequest,
    GetRecentResponse,
    PruneRequest,
    PruneResponse,
    PruneStrategy,
    ReportUsageRequest,
    ReportUsageResponse,
    SearchHit,
    SearchMode,
    SearchRequest,
    SearchResponse,
    StoreInteractionRequest,
    StoreInteractionResponse,
)
from memsidecar_client.v1.message_pb2 import Message, Role, Scope, ToolCall
from memsidecar_client.v1.session_pb2 import (
    DeleteSessionRequest,
    DeleteSessionResponse,
    ExportRequest,
    ExportResponse,
    ForgetMessageRequest,
    ForgetMessageResponse,
    ForgetUserRequest,
    ForgetUserResponse,
    GetSessionRequest,
    GetSessionResponse,
    ImportRequest,
    ImportResponse,
    ListSessionsRequest,
    ListSessionsResponse,
    Session,
    SessionPolicy,
    SetPolicyRequest,
    SetPolicyResponse,
    WatchRequest,
    WatchResponse,
)


class Methods(Calls):
    """A method for each RPC. Keywords are the fields of its request; what is left out has the server's default.

    Every method takes `timeout`: the seconds that it may take, retries included, in place of the client's own;
    math.inf is no limit. With 0 or less, it ends with DeadlineExceeded, and nothing is sent.
    """

    def add(
        self,
        *,
        session_id: str,
        role: Role | RoleName,
        namespace: str = "",
        user_id: str = "",
        message_id: str = "",
        content: str = "",
        name: str = "",
        tool_calls: Iterable[ToolCall | ToolCallDict] = (),
        tool_call_id: str = "",
        create_time: datetime | Timestamp | None = None,
        metadata: Mapping[str, Any] | None = None,
        evaluation_score: float | None = None,
        reasoning: str = "",
        vector: Iterable[float] = (),
        expected_sequence: int | None = None,
        return_session: bool = False,
        timeout: float | None = None,
    ) -> AddResponse:
        """Appends one message. When this answers, the message is on disk and every later read sees it.

        Errors: INVALID_ARGUMENT for a wrong field; ALREADY_EXISTS (ID_CONFLICT) for a known id with another
        body; ABORTED (SEQUENCE_MISMATCH) when expected_sequence does not match; RESOURCE_EXHAUSTED (TOO_LARGE,
        DISK_FULL).

        namespace: Empty means "default".
        user_id: Optional. The first request that names a user makes the session theirs; a later one that names
            another is refused.
        session_id: Required. The session comes into being with its first message.
        message_id: Unique in its session, 1 to 256 bytes without control characters. Empty in a request: the
            client makes a UUIDv7. Given: the idempotency key. The same id with the same role, content, name,
            tool calls and tool_call_id again is answered as a duplicate and changes nothing; with another body
            it is ALREADY_EXISTS, reason ID_CONFLICT.
        role: Required.
        content: Plain text; special-token text in it is text. May be empty only for an assistant message with
            tool calls.
        name: The speaker, where there are several. A query that names the speaker ranks what they said higher.
        tool_calls: Assistant messages only. Several calls in one message are parallel calls.
        tool_call_id: Tool messages only: the call that this answers. A tool message may lack it; it is then an
            answer without a call, which is stored and leaves the window with its neighbours.
        create_time: When it was said. Set by the server when absent.
        metadata: Tags: at most 16 KiB, 8 levels deep. Numbers are doubles, as in JSON.
        evaluation_score: How good the exchange was, 0 to 10. Usually set later, with Annotate. Absent means not
            judged, which is not 0: the quality filter of episodic retrieval looks only at messages that have a
            score.
        reasoning: The assistant's thinking. Stored and searchable on request; never rendered into a context
            unless asked for.
        vector: Input only: a vector for this message from the caller's own embedder, of the configured
            dimensions (setting embedder_dimensions), each number finite, else INVALID_ARGUMENT. Need not have
            length 1. Empty: the server embeds the content and the tool calls itself.
        expected_sequence: The session's last sequence as the caller knows it, 0 for a new session. Checked
            after the duplicate check; a mismatch is ABORTED. Absent: not checked.
        return_session: Answer with `session`, too.
        """
        request = built(
            AddRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            expected_sequence=expected_sequence,
            return_session=return_session,
            message=built(
                Message,
                {"id": "message_id"},
                id=message_id,
                role=role,
                content=content,
                name=name,
                tool_calls=tool_calls,
                tool_call_id=tool_call_id,
                create_time=create_time,
                metadata=metadata,
                evaluation_score=evaluation_score,
                reasoning=reasoning,
                vector=vector,
            ),
        )
        identify(request.message)
        return self._call("MemoryService/Add", request, AddResponse, checked(timeout))

    def add_batch(
        self,
        *,
        session_id: str,
        namespace: str = "",
        user_id: str = "",
        messages: Iterable[Message | MessageDict] = (),
        expected_sequence: int | None = None,
        timeout: float | None = None,
    ) -> AddBatchResponse:
        """Appends messages of one session, all or nothing, in one acknowledgement. Errors as with Add; after an
        error nothing of the batch is stored.

        namespace: Empty means "default".
        user_id: Optional, as in AddRequest.
        session_id: Required.
        messages: In the order in which they were said; 1 to 10,000, and at most 4 MiB together. Known ones are
            reported as duplicates, the others appended; one conflict or one invalid message refuses the batch.
        expected_sequence: As in AddRequest; compared once, before the first message that is new.
        """
        request = built(
            AddBatchRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            messages=messages,
            expected_sequence=expected_sequence,
        )
        identify(*request.messages)
        return self._call("MemoryService/AddBatch", request, AddBatchResponse, checked(timeout))

    def add_stream(
        self, requests: Iterable[AddStreamRequest | AddStreamRequestDict], *, timeout: float | None = None
    ) -> Iterator[AddStreamResponse]:
        """Appends in bulk: one answer per request, in order, each sent when durable. An invalid request ends the
        stream with its error; what was answered stays. Requests of one stream may name different sessions.

        Nothing is sent before the answers are read.
        """
        messages = each_of(AddStreamRequest, requests)
        return self._sent_again("MemoryService/AddStream", messages, AddStreamResponse, checked(timeout))

    def store_interaction(
        self,
        *,
        session_id: str,
        user_message: str,
        assistant_message: str,
        namespace: str = "",
        user_id: str = "",
        interaction_id: str = "",
        create_time: datetime | Timestamp | None = None,
        metadata: Mapping[str, Any] | None = None,
        evaluation_score: float | None = None,
        timeout: float | None = None,
    ) -> StoreInteractionResponse:
        """Appends one user and one assistant message as one turn, all or nothing. Idempotent by interaction_id.
        Errors as with Add.

        namespace: Empty means "default".
        user_id: Optional, as in AddRequest.
        session_id: Required.
        user_message: What the user said. Required, not empty.
        assistant_message: What the assistant answered. Required, not empty.
        interaction_id: The idempotency key of the turn; the two messages get the ids "<interaction_id>/user"
            and "<interaction_id>/assistant", which count against the 256 bytes of an id. Empty: made by the
            client.
        create_time: Of both messages. Set by the server when absent.
        metadata: Tags of both messages: at most 16 KiB, 8 levels deep.
        evaluation_score: How good the exchange was, 0 to 10; of both messages.
        """
        request = built(
            StoreInteractionRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            user_message=user_message,
            assistant_message=assistant_message,
            interaction_id=interaction_id,
            create_time=create_time,
            metadata=metadata,
            evaluation_score=evaluation_score,
        )
        identify_interaction(request)
        return self._call("MemoryService/StoreInteraction", request, StoreInteractionResponse, checked(timeout))

    def annotate(
        self,
        *,
        session_id: str,
        message_id: str,
        namespace: str = "",
        user_id: str = "",
        evaluation_score: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> AnnotateResponse:
        """Sets what is learned about a message later: its evaluation score and tags. NOT_FOUND when the session
        has no such message. Its content, its tokens and its place do not change.

        namespace: Empty means "default".
        user_id: Optional; a user other than the session's is refused.
        session_id: Required.
        message_id: Required. Pruned messages can be annotated, too.
        evaluation_score: 0 to 10. Absent: left as it is.
        metadata: Merged into the message's metadata; a null value removes its key. The result may have at most
            16 KiB.
        """
        request = built(
            AnnotateRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            message_id=message_id,
            evaluation_score=evaluation_score,
            metadata=metadata,
        )
        return self._call("MemoryService/Annotate", request, AnnotateResponse, checked(timeout))

    def get_all(
        self,
        *,
        session_id: str,
        namespace: str = "",
        user_id: str = "",
        page_size: int = 0,
        page_token: str = "",
        include_pruned: bool = False,
        metadata_filter: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> GetAllResponse:
        """Reads a session page by page, oldest first.

        namespace: Empty means "default".
        user_id: Optional; a user other than the session's is refused.
        session_id: Required.
        page_size: 0: 100. More than 1,000 is taken as 1,000.
        page_token: The next_page_token of the page before; empty: the first page. Opaque, bound to the
            request's other fields.
        include_pruned: Pruned messages, too, each at its place.
        metadata_filter: Every given key must equal. Absent or empty: no filter.
        """
        request = built(
            GetAllRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            page_size=page_size,
            page_token=page_token,
            include_pruned=include_pruned,
            metadata_filter=metadata_filter,
        )
        return self._call("MemoryService/GetAll", request, GetAllResponse, checked(timeout))

    def iter_messages(
        self,
        *,
        session_id: str,
        namespace: str = "",
        user_id: str = "",
        page_size: int = 0,
        include_pruned: bool = False,
        metadata_filter: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Iterator[Message]:
        """Goes through all pages of `get_all`, each asked for when it is needed.

        `timeout` is for each page.
        """
        request = built(
            GetAllRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            page_size=page_size,
            include_pruned=include_pruned,
            metadata_filter=metadata_filter,
        )
        return self._paged("MemoryService/GetAll", request, GetAllResponse, "messages", checked(timeout))

    def get_recent(
        self,
        *,
        session_id: str,
        n: int,
        namespace: str = "",
        user_id: str = "",
        max_tokens: int = 0,
        timeout: float | None = None,
    ) -> GetRecentResponse:
        """Reads the newest n messages of the window, oldest first.

        namespace: Empty means "default".
        user_id: Optional; a user other than the session's is refused.
        session_id: Required.
        n: 1 to 10,000; more is taken as 10,000. No default: 0 is INVALID_ARGUMENT. More than there are: all of
            them.
        max_tokens: 0: no limit. Whole messages only, the newest first to be kept.
        """
        request = built(
            GetRecentRequest, namespace=namespace, user_id=user_id, session_id=session_id, n=n, max_tokens=max_tokens
        )
        return self._call("MemoryService/GetRecent", request, GetRecentResponse, checked(timeout))

    def get_by_role(
        self,
        *,
        session_id: str,
        namespace: str = "",
        user_id: str = "",
        role: Role | RoleName = Role.ROLE_UNSPECIFIED,
        limit: int = 0,
        timeout: float | None = None,
    ) -> GetByRoleResponse:
        """Reads the messages of one role in the window, oldest first.

        namespace: Empty means "default".
        user_id: Optional; a user other than the session's is refused.
        session_id: Required.
        role: Required; ROLE_UNSPECIFIED is INVALID_ARGUMENT.
        limit: 0: all. Keeps the newest.
        """
        request = built(
            GetByRoleRequest, namespace=namespace, user_id=user_id, session_id=session_id, role=role, limit=limit
        )
        return self._call("MemoryService/GetByRole", request, GetByRoleResponse, checked(timeout))

    def search(
        self,
        *,
        namespace: str = "",
        user_id: str = "",
        session_id: str = "",
        query: str = "",
        mode: SearchMode | SearchModeName = SearchMode.SEARCH_MODE_UNSPECIFIED,
        scope: Scope | ScopeName = Scope.SCOPE_UNSPECIFIED,
        limit: int = 0,
        min_score: float = 0.0,
        roles: Iterable[Role | RoleName] = (),
        metadata_filter: Mapping[str, Any] | None = None,
        after: datetime | Timestamp | None = None,
        before: datetime | Timestamp | None = None,
        page_token: str = "",
        query_vector: Iterable[float] = (),
        timeout: float | None = None,
    ) -> SearchResponse:
        """Finds messages, best first: by a substring, by words, by meaning, or by words and meaning together
        (mode).

        Sees every acknowledged message at once, pruned ones included, and none that was erased. Looks at the
        content and at the names and arguments of tool calls; in the substring mode at the content alone; never
        at reasoning. Only what the request names filters: there is no hidden threshold. An unknown session is
        answered empty. When the index or the embedder is away, the rest answers and `degraded` says so.

        Pages are as of the first page: what was added since is neither in them nor moves anything from one to
        another. In a whole namespace, and for a user with more than fits into memory, they end with the
        candidates of the ranking (SearchRequest.limit).

        Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH).

        namespace: Empty means "default".
        user_id: Whose memory, for the user's scope. Optional where session_id is given: the session's user
            then.
        session_id: The session, for the session's scope. Optional where user_id is given.
        query: What to look for. Required, unless query_vector is given and the mode is semantic.
        mode: Unspecified: hybrid.
        scope: Unspecified: the user's, where there is one; else the session's.
        limit: 0: 10. More than 1,000 is taken as 1,000. In a whole namespace, and for a user with more than
            fits into memory (setting episodic_memory_bytes) and their sessions, candidates are ranked, and not
            all messages: the best 200 by words and the nearest 200 by meaning, or as many as the limit where it
            is above 200, and what stands around them. The pages end there; a larger limit looks at more. The
            substring mode has no such bound.
        min_score: Compared with `score`; from 0 on. 0: no hit is left out for its score. A threshold for every
            query is meant for the semantic mode: in the others the best hit scores high however well it
            matches.
        roles: Empty: all. Messages of other roles are no hits, and still count as neighbours of those that are;
            so with `after` and `before`.
        metadata_filter: Every given key must equal. Absent or empty: no filter. Where candidates are ranked
            (`limit`), the filter looks only through them, so it can miss messages that match. In the substring
            mode it misses none.
        after: Only messages with a create_time later than this, in whole microseconds. Absent: no limit.
        before: Only messages with a create_time earlier than this, in whole microseconds. Absent: no limit.
        page_token: The next_page_token of the page before; empty: the first page. Opaque, bound to the
            request's other fields. Where candidates are ranked (`limit`), the pages end with the last of them.
        query_vector: In place of embedding the query, for the semantic and the hybrid mode: of the configured
            dimensions (setting embedder_dimensions), each number finite, else INVALID_ARGUMENT. Need not have
            length 1. Empty: the server embeds the query.
        """
        request = built(
            SearchRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            query=query,
            mode=mode,
            scope=scope,
            limit=limit,
            min_score=min_score,
            roles=roles,
            metadata_filter=metadata_filter,
            after=after,
            before=before,
            page_token=page_token,
            query_vector=query_vector,
        )
        return self._call("MemoryService/Search", request, SearchResponse, checked(timeout))

    def iter_hits(
        self,
        *,
        namespace: str = "",
        user_id: str = "",
        session_id: str = "",
        query: str = "",
        mode: SearchMode | SearchModeName = SearchMode.SEARCH_MODE_UNSPECIFIED,
        scope: Scope | ScopeName = Scope.SCOPE_UNSPECIFIED,
        limit: int = 0,
        min_score: float = 0.0,
        roles: Iterable[Role | RoleName] = (),
        metadata_filter: Mapping[str, Any] | None = None,
        after: datetime | Timestamp | None = None,
        before: datetime | Timestamp | None = None,
        query_vector: Iterable[float] = (),
        timeout: float | None = None,
    ) -> Iterator[SearchHit]:
        """Goes through all pages of `search`, each asked for when it is needed.

        `timeout` is for each page.
        """
        request = built(
            SearchRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            query=query,
            mode=mode,
            scope=scope,
            limit=limit,
            min_score=min_score,
            roles=roles,
            metadata_filter=metadata_filter,
            after=after,
            before=before,
            query_vector=query_vector,
        )
        return self._paged("MemoryService/Search", request, SearchResponse, "hits", checked(timeout))

    def count(
        self, *, session_id: str, namespace: str = "", user_id: str = "", model: str = "", timeout: float | None = None
    ) -> CountResponse:
        """Counts messages and tokens.

        namespace: Empty means "default".
        user_id: Optional; a user other than the session's is refused.
        session_id: Required.
        model: Count by this model's tokenizer instead of the server's default.
        """
        request = built(CountRequest, namespace=namespace, user_id=user_id, session_id=session_id, model=model)
        return self._call("MemoryService/Count", request, CountResponse, checked(timeout))

    def prune(
        self,
        *,
        session_id: str,
        namespace: str = "",
        user_id: str = "",
        max_tokens: int = 0,
        strategy: PruneStrategy | PruneStrategyName = PruneStrategy.PRUNE_STRATEGY_UNSPECIFIED,
        window: int = 0,
        min_messages: int = 0,
        dry_run: bool = False,
        summarize: bool = False,
        overflow: bool = False,
        model: str = "",
        timeout: float | None = None,
    ) -> PruneResponse:
        """Brings a session under a budget. Pruned messages leave the window, not the memory: Search and episodic
        retrieval still find them. System messages stay, a tool call is never parted from its results, and the
        newest min_messages stay even when that leaves the session over budget (`over_budget`).

        namespace: Empty means "default".
        user_id: Optional; a user other than the session's is refused.
        session_id: Required.
        max_tokens: The budget in tokens. At least 1, except with the window strategy. No default: 0 is
            INVALID_ARGUMENT.
        strategy: Unspecified: recency.
        window: For the window strategy, in messages; 0: 5 (setting prune_window).
        min_messages: How many of the newest messages are kept whatever the budget; 0: 2 (setting
            prune_min_messages).
        dry_run: Answer what would happen, change nothing. No summary is made then.
        summarize: Bring the rolling summary up to the newest message that is pruned, before it is: nothing
            leaves the window that no summary speaks for. Without a model, whatever is configured: the caller
            waits.
        overflow: The provider refused the context: shorten the oldest large tool results before anything is
            pruned. Head and tail of a result are kept and the cut is marked; it is then read with synthetic
            set, while the original stays stored and searchable.
        model: Count by this model's tokenizer instead of the server's default.
        """
        request = built(
            PruneRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            max_tokens=max_tokens,
            strategy=strategy,
            window=window,
            min_messages=min_messages,
            dry_run=dry_run,
            summarize=summarize,
            overflow=overflow,
            model=model,
        )
        return self._call("MemoryService/Prune", request, PruneResponse, checked(timeout))

    def clear(
        self, *, session_id: str, namespace: str = "", user_id: str = "", timeout: float | None = None
    ) -> ClearResponse:
        """Erases the session's messages and summary, from every layer. Facts stay; sequences go on. An unknown
        session is answered with a removed_count of 0.

        namespace: Empty means "default".
        user_id: Optional; a user other than the session's is refused.
        session_id: Required.
        """
        request = built(ClearRequest, namespace=namespace, user_id=user_id, session_id=session_id)
        return self._call("MemoryService/Clear", request, ClearResponse, checked(timeout))

    def build_context(
        self,
        *,
        session_id: str,
        namespace: str = "",
        user_id: str = "",
        query: str = "",
        model: str = "",
        max_tokens: int = 0,
        system_prompt: str = "",
        profile: str = "",
        tool_schemas_json: str = "",
        reserve_output_tokens: int = 0,
        documents: Iterable[str] = (),
        sections: Iterable[SectionBudget | SectionBudgetDict] = (),
        scope: Scope | ScopeName = Scope.SCOPE_UNSPECIFIED,
        append_query: bool = False,
        debug: bool = False,
        query_vector: Iterable[float] = (),
        include_reasoning: bool = False,
        timeout: float | None = None,
    ) -> BuildContextResponse:
        """Builds what the model should see, within a budget, and accounts for it. Changes nothing that a caller
        stored; a short conversation whose summary is due gets it now and not some moments later. What cannot be
        retrieved in time, or because the index or the embedder is away, is left out, and `degraded` says so.

        Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (BUDGET_TOO_SMALL, with required_tokens
        in the metadata, when what must stay does not fit; SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED
        (TOO_LARGE for a context of more than 4 MiB).

        namespace: Empty means "default".
        user_id: Optional; a user other than the session's is refused.
        session_id: Required. An unknown session gives a context from the rest.
        query: What to retrieve for; empty: the newest user message.
        model: Chooses tokenizer, calibration and default budget. Optional; an unknown one is counted by an
            estimate.
        max_tokens: The hard limit for everything; 0: the model's recommended budget, else 8,000 (setting
            context_budget). What must stay (system prompt, chosen facts, the last 2 messages with their
            exchanges, schemas, reserve, framing) and does not fit is FAILED_PRECONDITION, reason
            BUDGET_TOO_SMALL, with required_tokens in the metadata.
        system_prompt: Empty: the session's system messages.
        profile: A text about the user, from the caller. Empty: none.
        tool_schemas_json: The schemas of the tools that the model will be offered. Counted as the text that
            they are, not read as JSON, not rendered.
        reserve_output_tokens: Tokens kept free for the model's answer, out of max_tokens. 0: none. From 0 on.
        documents: Chunks from the caller, best first, before what is retrieved: they share the documents
            section. At most 1,000; empty ones are passed over.
        sections: What differs from the defaults, each section at most once.
        scope: For what is retrieved of conversations. Unspecified: the user's, where there is one; else the
            session's. The user's where neither the request nor the session names one is INVALID_ARGUMENT.
        append_query: Render `query`, which is then required, as the last user message.
        debug: List what was considered and left out, too.
        query_vector: In place of embedding the query: of the configured dimensions (setting
            embedder_dimensions), each number finite, else INVALID_ARGUMENT. Need not have length 1. Empty: the
            server embeds the query.
        include_reasoning: Render the assistant's thinking, too.
        """
        request = built(
            BuildContextRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            query=query,
            model=model,
            max_tokens=max_tokens,
            system_prompt=system_prompt,
            profile=profile,
            tool_schemas_json=tool_schemas_json,
            reserve_output_tokens=reserve_output_tokens,
            documents=documents,
            sections=sections,
            scope=scope,
            append_query=append_query,
            debug=debug,
            query_vector=query_vector,
            include_reasoning=include_reasoning,
        )
        return self._call("MemoryService/BuildContext", request, BuildContextResponse, checked(timeout))

    def report_usage(
        self,
        *,
        model: str,
        namespace: str = "",
        user_id: str = "",
        session_id: str = "",
        estimated_tokens: int = 0,
        actual_tokens: int = 0,
        timeout: float | None = None,
    ) -> ReportUsageResponse:
        """Tells what the provider charged, so that estimates for that model are corrected.

        namespace: Empty means "default".
        user_id: Optional.
        session_id: Optional.
        model: Required: the model that was called. The correction is kept for this name.
        estimated_tokens: What the sidecar had answered for this context (total_tokens, without what was only
            reserved), with the factor of that time already applied. At least 1.
        actual_tokens: What the provider charged for the same input. At least 1.
        """
        request = built(
            ReportUsageRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            model=model,
            estimated_tokens=estimated_tokens,
            actual_tokens=actual_tokens,
        )
        return self._call("MemoryService/ReportUsage", request, ReportUsageResponse, checked(timeout))

    def list_sessions(
        self,
        *,
        namespace: str = "",
        user_id: str = "",
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> ListSessionsResponse:
        """Newest activity first.

        namespace: Empty means "default".
        user_id: Empty: of every user.
        page_size: 0: 100. More than 1,000 is taken as 1,000.
        page_token: The next_page_token of the page before; empty: the first page. Opaque, bound to the
            request's other fields.
        """
        request = built(
            ListSessionsRequest, namespace=namespace, user_id=user_id, page_size=page_size, page_token=page_token
        )
        return self._call("SessionService/ListSessions", request, ListSessionsResponse, checked(timeout))

    def iter_sessions(
        self, *, namespace: str = "", user_id: str = "", page_size: int = 0, timeout: float | None = None
    ) -> Iterator[Session]:
        """Goes through all pages of `list_sessions`, each asked for when it is needed.

        `timeout` is for each page.
        """
        request = built(ListSessionsRequest, namespace=namespace, user_id=user_id, page_size=page_size)
        return self._paged("SessionService/ListSessions", request, ListSessionsResponse, "sessions", checked(timeout))

    def get_session(
        self, *, session_id: str, namespace: str = "", user_id: str = "", timeout: float | None = None
    ) -> GetSessionResponse:
        """Reads one session. An unknown one answers an empty GetSessionResponse, without `session`.

        namespace: Empty means "default".
        user_id: Optional; a user other than the session's is refused.
        session_id: Required.
        """
        request = built(GetSessionRequest, namespace=namespace, user_id=user_id, session_id=session_id)
        return self._call("SessionService/GetSession", request, GetSessionResponse, checked(timeout))

    def set_policy(
        self,
        *,
        namespace: str = "",
        user_id: str = "",
        session_id: str = "",
        policy: SessionPolicy | SessionPolicyDict | None = None,
        timeout: float | None = None,
    ) -> SetPolicyResponse:
        """Sets how a session prunes and summarises itself; without session_id, the namespace's default. The given
        policy replaces the one before as a whole.

        namespace: Empty means "default".
        user_id: Optional, as in AddRequest.
        session_id: Empty: the default of the namespace, for sessions without a policy of their own.
        policy: Replaces the one before as a whole. Absent: back to the default.
        """
        request = built(SetPolicyRequest, namespace=namespace, user_id=user_id, session_id=session_id, policy=policy)
        return self._call("SessionService/SetPolicy", request, SetPolicyResponse, checked(timeout))

    def delete_session(
        self,
        *,
        session_id: str,
        namespace: str = "",
        user_id: str = "",
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> DeleteSessionResponse:
        """Erases a session from every layer, facts that came from it alone included. NOT_FOUND, in a dry run, too,
        for a session of which no layer keeps anything.

        namespace: Empty means "default".
        user_id: Optional; a user other than the session's is refused.
        session_id: Required.
        dry_run: Answer what would be erased, change nothing.
        """
        request = built(
            DeleteSessionRequest, namespace=namespace, user_id=user_id, session_id=session_id, dry_run=dry_run
        )
        return self._call("SessionService/DeleteSession", request, DeleteSessionResponse, checked(timeout))

    def forget_message(
        self,
        *,
        session_id: str,
        message_id: str,
        namespace: str = "",
        user_id: str = "",
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> ForgetMessageResponse:
        """Erases one message from every layer and what was derived from it alone. NOT_FOUND when the session has
        no such message.

        namespace: Empty means "default".
        user_id: Optional; a user other than the session's is refused.
        session_id: Required.
        message_id: Required.
        dry_run: Answer what would be erased, change nothing.
        """
        request = built(
            ForgetMessageRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            message_id=message_id,
            dry_run=dry_run,
        )
        return self._call("SessionService/ForgetMessage", request, ForgetMessageResponse, checked(timeout))

    def forget_user(
        self, *, user_id: str, namespace: str = "", dry_run: bool = False, timeout: float | None = None
    ) -> ForgetUserResponse:
        """Erases a user from every layer: all their sessions, facts, patterns, summaries, artifacts and documents.

        namespace: Empty means "default".
        user_id: Required.
        dry_run: Answer what would be erased, change nothing.
        """
        request = built(ForgetUserRequest, namespace=namespace, user_id=user_id, dry_run=dry_run)
        return self._call("SessionService/ForgetUser", request, ForgetUserResponse, checked(timeout))

    def export(
        self,
        *,
        namespace: str = "",
        user_id: str = "",
        session_id: str = "",
        cursor: str = "",
        timeout: float | None = None,
    ) -> Iterator[ExportResponse]:
        """Streams what is stored, one record an answer, in an order that Import accepts. A stream that broke off
        goes on after the last cursor that was received.

        namespace: Empty means "default".
        user_id: Empty: all.
        session_id: Empty: all sessions of the user or of the namespace.
        cursor: Go on after this cursor. Empty: from the beginning. Opaque, bound to the request's other fields.
        """
        request = built(ExportRequest, namespace=namespace, user_id=user_id, session_id=session_id, cursor=cursor)
        return self._answers("SessionService/Export", request, ExportResponse, checked(timeout))

    def import_(
        self, requests: Iterable[ImportRequest | ImportRequestDict], *, timeout: float | None = None
    ) -> Iterator[ImportResponse]:
        """Stores records of an archive, or of a history from elsewhere. One answer per durable batch, so that an
        interrupted import can go on. Records that are there already are counted as duplicates and change
        nothing. An invalid record ends the stream with its error; what was answered stays.

        Nothing is sent before the answers are read.
        """
        messages = each_of(ImportRequest, requests)
        return self._exchanged("SessionService/Import", messages, ImportResponse, checked(timeout))

    def watch(
        self,
        *,
        namespace: str = "",
        user_id: str = "",
        session_id: str = "",
        cursor: str = "",
        timeout: float | None = None,
    ) -> Iterator[WatchResponse]:
        """What happens from now on, or from a cursor. Ends when the caller cancels, or with UNAVAILABLE when the
        sidecar stops.

        namespace: Empty means "default".
        user_id: Empty: every user.
        session_id: Empty: every session in the scope.
        cursor: Empty: from now on. Else the cursor of the last event that was received; what happened since
            comes first.
        """
        request = built(WatchRequest, namespace=namespace, user_id=user_id, session_id=session_id, cursor=cursor)
        return self._answers("SessionService/Watch", request, WatchResponse, checked(timeout))

    def put_facts(
        self,
        *,
        namespace: str = "",
        user_id: str = "",
        session_id: str = "",
        facts: Iterable[Fact | FactDict] = (),
        timeout: float | None = None,
    ) -> PutFactsResponse:
        """Stores facts, all or nothing; when this answers, they are on disk. One with the key of a current fact
        and another value supersedes it; the old one stays in the history. One with the same value is seen
        again: its last_updated moves, nothing else. One with times of its own that holds since earlier than the
        current one, or was last seen earlier, goes into the history at once; one without is the newest. Facts
        that were learned from messages never supersede a pinned one.

        Spelling does not make another value or key: case, white space and a full stop at the end do not count.

        Errors: INVALID_ARGUMENT for a wrong field, with its path ("facts[1].key"); FAILED_PRECONDITION
        (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a request of more than 3 MiB; DISK_FULL).

        namespace: Empty means "default".
        user_id: Whose facts. Optional where session_id is given: the session's user then.
        session_id: Where they came from; for a session without a user, whose they are. Need not exist yet.
            Required where user_id is empty.
        facts: 1 to 1,000, all or nothing. They are taken in their order.
        """
        request = built(PutFactsRequest, namespace=namespace, user_id=user_id, session_id=session_id, facts=facts)
        return self._call("KnowledgeService/PutFacts", request, PutFactsResponse, checked(timeout))

    def list_facts(
        self,
        *,
        namespace: str = "",
        user_id: str = "",
        session_id: str = "",
        types: Iterable[FactType | FactTypeName] = (),
        include_history: bool = False,
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> ListFactsResponse:
        """Reads the current facts of a user (or of a session without a user), most confident first, then those
        seen last, then by id. Of more than 10,000, those seen last are looked at.

        namespace: Empty means "default".
        user_id: Whose facts. Optional where session_id is given: the session's user then.
        session_id: For a session without a user, whose facts.
        types: Empty: all.
        include_history: Superseded ones, too.
        page_size: 0: 100. More than 1,000 is taken as 1,000.
        page_token: The next_page_token of the page before; empty: the first page. Opaque, bound to the
            request's other fields.
        """
        request = built(
            ListFactsRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            types=types,
            include_history=include_history,
            page_size=page_size,
            page_token=page_token,
        )
        return self._call("KnowledgeService/ListFacts", request, ListFactsResponse, checked(timeout))

    def iter_facts(
        self,
        *,
        namespace: str = "",
        user_id: str = "",
        session_id: str = "",
        types: Iterable[FactType | FactTypeName] = (),
        include_history: bool = False,
        page_size: int = 0,
        timeout: float | None = None,
    ) -> Iterator[Fact]:
        """Goes through all pages of `list_facts`, each asked for when it is needed.

        `timeout` is for each page.
        """
        request = built(
            ListFactsRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            types=types,
            include_history=include_history,
            page_size=page_size,
        )
        return self._paged("KnowledgeService/ListFacts", request, ListFactsResponse, "facts", checked(timeout))

    def delete_fact(
        self,
        *,
        fact_id: str,
        namespace: str = "",
        user_id: str = "",
        session_id: str = "",
        timeout: float | None = None,
    ) -> DeleteFactResponse:
        """Erases one fact, current or superseded, from every file. NOT_FOUND when the user has none with this id.
        A superseded one does not come back when the one that superseded it is erased.

        namespace: Empty means "default".
        user_id: Whose fact. Optional where session_id is given: the session's user then.
        session_id: For a session without a user, whose fact.
        fact_id: Required.
        """
        request = built(DeleteFactRequest, namespace=namespace, user_id=user_id, session_id=session_id, fact_id=fact_id)
        return self._call("KnowledgeService/DeleteFact", request, DeleteFactResponse, checked(timeout))

    def put_artifact(
        self,
        *,
        session_id: str,
        namespace: str = "",
        user_id: str = "",
        artifact_id: str = "",
        source: str = "",
        content: str = "",
        create_time: datetime | Timestamp | None = None,
        expire_time: datetime | Timestamp | None = None,
        metadata: Mapping[str, Any] | None = None,
        offload_message_id: str = "",
        preview_tokens: int = 0,
        timeout: float | None = None,
    ) -> PutArtifactResponse:
        """Stores a compact result of a tool; when this answers, it is on disk. Or moves a large one out of the
        window (`offload_message_id`): first the artifact is stored, then the message is shown as a preview. To
        repeat the call is harmless.

        Errors: INVALID_ARGUMENT for a wrong field; NOT_FOUND (NOT_FOUND for a message that is not there);
        FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a content of more than 1
        MiB, setting max_message_bytes; DISK_FULL).

        namespace: Empty means "default".
        user_id: Optional; a user other than the session's is refused.
        session_id: Required. Need not exist yet, unless a message is offloaded.
        artifact_id: Unique in its session. Empty in a request: made by the client; of an offloaded message
            always the same. Given: putting it again replaces it.
        source: Where it came from: a tool's name, a URL. At most 1,024 bytes. Of an offloaded message, its name
            if empty.
        content: The text, at most 1 MiB (setting max_message_bytes). Required, unless a message is offloaded:
            then it must be empty, and becomes the message's whole content.
        create_time: Set by the server when absent. As long as the content stays the same, so does this.
        expire_time: After this it is neither listed nor put into a context. Must be after create_time. Absent:
            never.
        metadata: Tags: at most 16 KiB, 8 levels deep.
        offload_message_id: Replace this stored tool message in the window by a preview of at most
            `preview_tokens`; the artifact holds the whole. NOT_FOUND when the session has no such message;
            INVALID_ARGUMENT when its role is another. A message that is not longer stays as it is, and so does
            one that was pruned. The original stays stored and searchable. Empty: nothing is replaced.
        preview_tokens: Of the preview's content: its head, its tail, and a line that names the artifact, which
            is there however few these are. 0: 128 (setting overflow_keep_tokens).
        """
        request = built(
            PutArtifactRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            offload_message_id=offload_message_id,
            preview_tokens=preview_tokens,
            artifact=built(
                Artifact,
                {"id": "artifact_id"},
                id=artifact_id,
                source=source,
                content=content,
                create_time=create_time,
                expire_time=expire_time,
                metadata=metadata,
            ),
        )
        identify_artifact(request)
        return self._call("KnowledgeService/PutArtifact", request, PutArtifactResponse, checked(timeout))

    def list_artifacts(
        self,
        *,
        session_id: str,
        namespace: str = "",
        user_id: str = "",
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> ListArtifactsResponse:
        """Reads the artifacts of a session, newest first by create_time, then by id; expired ones are left out.

        namespace: Empty means "default".
        user_id: Optional; a user other than the session's is refused.
        session_id: Required.
        page_size: 0: 100. More than 1,000 is taken as 1,000.
        page_token: The next_page_token of the page before; empty: the first page. Opaque, bound to the
            request's other fields.
        """
        request = built(
            ListArtifactsRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            page_size=page_size,
            page_token=page_token,
        )
        return self._call("KnowledgeService/ListArtifacts", request, ListArtifactsResponse, checked(timeout))

    def iter_artifacts(
        self,
        *,
        session_id: str,
        namespace: str = "",
        user_id: str = "",
        page_size: int = 0,
        timeout: float | None = None,
    ) -> Iterator[Artifact]:
        """Goes through all pages of `list_artifacts`, each asked for when it is needed.

        `timeout` is for each page.
        """
        request = built(
            ListArtifactsRequest, namespace=namespace, user_id=user_id, session_id=session_id, page_size=page_size
        )
        return self._paged(
            "KnowledgeService/ListArtifacts", request, ListArtifactsResponse, "artifacts", checked(timeout)
        )

    def delete_artifact(
        self, *, session_id: str, artifact_id: str, namespace: str = "", user_id: str = "", timeout: float | None = None
    ) -> DeleteArtifactResponse:
        """Erases one artifact, from every file. NOT_FOUND when the session has none with this id. The message that
        it held stays stored, and its preview in the window stays a preview.

        namespace: Empty means "default".
        user_id: Optional; a user other than the session's is refused.
        session_id: Required.
        artifact_id: Required.
        """
        request = built(
            DeleteArtifactRequest, namespace=namespace, user_id=user_id, session_id=session_id, artifact_id=artifact_id
        )
        return self._call("KnowledgeService/DeleteArtifact", request, DeleteArtifactResponse, checked(timeout))

    def put_document(
        self,
        *,
        document_id: str,
        text: str,
        namespace: str = "",
        user_id: str = "",
        session_id: str = "",
        title: str = "",
        source: str = "",
        metadata: Mapping[str, Any] | None = None,
        create_time: datetime | Timestamp | None = None,
        timeout: float | None = None,
    ) -> PutDocumentResponse:
        """Stores a document and its chunks. When this answers, they are on disk, and every later search finds
        them. The same document again does nothing (`unchanged`); another text replaces the chunks all at once,
        and nobody sees a part of either; another title, source or metadata alone replaces just these.

        Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH);
        RESOURCE_EXHAUSTED (TOO_LARGE for a text of more than 3 MiB, setting max_document_bytes, or of more than
        50,000 chunks; DISK_FULL).

        namespace: Empty means "default".
        user_id: Without a session: visible to this user only. With one: a user other than the session's is
            refused. With neither: visible to the namespace.
        session_id: Visible to this session only. Need not exist yet.
        document_id: Required, 1 to 256 bytes without control characters. Chosen by the caller; putting it again
            replaces it.
        title: For people; not required, not searched. At most 1,024 bytes.
        text: Input only. Required, not only white space, at most 3 MiB (setting max_document_bytes).
        source: Where it came from: a file name, a URL. At most 1,024 bytes.
        metadata: Tags: at most 16 KiB, 8 levels deep.
        create_time: When it was written, or put. Set by the server when absent. As long as the text stays the
            same, so does this.
        """
        request = built(
            PutDocumentRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            document=built(
                Document,
                {"id": "document_id"},
                id=document_id,
                title=title,
                text=text,
                source=source,
                metadata=metadata,
                create_time=create_time,
            ),
        )
        return self._call("KnowledgeService/PutDocument", request, PutDocumentResponse, checked(timeout))

    def list_documents(
        self,
        *,
        namespace: str = "",
        user_id: str = "",
        session_id: str = "",
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> ListDocumentsResponse:
        """Reads what documents were put for the namespace, a user or a session, without their text, in the order
        of their ids.

        namespace: Empty means "default".
        user_id: Without a session: this user's. With one: a user other than the session's is refused. With
            neither: the namespace's.
        session_id: Those of this session, and no others.
        page_size: 0: 100. More than 1,000 is taken as 1,000.
        page_token: The next_page_token of the page before; empty: the first page. Opaque, bound to the
            request's other fields.
        """
        request = built(
            ListDocumentsRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            page_size=page_size,
            page_token=page_token,
        )
        return self._call("KnowledgeService/ListDocuments", request, ListDocumentsResponse, checked(timeout))

    def iter_documents(
        self,
        *,
        namespace: str = "",
        user_id: str = "",
        session_id: str = "",
        page_size: int = 0,
        timeout: float | None = None,
    ) -> Iterator[Document]:
        """Goes through all pages of `list_documents`, each asked for when it is needed.

        `timeout` is for each page.
        """
        request = built(
            ListDocumentsRequest, namespace=namespace, user_id=user_id, session_id=session_id, page_size=page_size
        )
        return self._paged(
            "KnowledgeService/ListDocuments", request, ListDocumentsResponse, "documents", checked(timeout)
        )

    def delete_document(
        self,
        *,
        document_id: str,
        namespace: str = "",
        user_id: str = "",
        session_id: str = "",
        timeout: float | None = None,
    ) -> DeleteDocumentResponse:
        """Erases a document and its chunks, from every file. NOT_FOUND when none with this id was put for the
        namespace, user or session that the request names.

        namespace: Empty means "default".
        user_id: Without a session: the user that it was put for. With one: a user other than the session's is
            refused.
        session_id: The session that it was put for. With neither: it was put for the namespace.
        document_id: Required.
        """
        request = built(
            DeleteDocumentRequest, namespace=namespace, user_id=user_id, session_id=session_id, document_id=document_id
        )
        return self._call("KnowledgeService/DeleteDocument", request, DeleteDocumentResponse, checked(timeout))

    def search_documents(
        self,
        *,
        query: str,
        namespace: str = "",
        user_id: str = "",
        session_id: str = "",
        limit: int = 0,
        min_score: float = 0.0,
        timeout: float | None = None,
    ) -> SearchDocumentsResponse:
        """Finds chunks of the documents that the caller may see, best first: the namespace's, the user's and the
        session's together. Ranked like messages in the hybrid mode of Search, with the chunks around in place
        of the messages around, and the document in place of the session; titles are not looked at. A document
        is found as soon as it is put, and not any more once it is replaced or deleted. While the index is away,
        the documents of the first ids are ranked: up to 200 of them, and 2,000 chunks, of each owner.

        namespace: Empty means "default".
        user_id: The user's documents are searched, too, besides the namespace's. Where only a session is named:
            its user's.
        session_id: The session's documents are searched, too, besides the namespace's. Another user's session
            is refused.
        query: Required. Compared as in the hybrid mode of Search.
        limit: 0: 3 (setting documents_top_k). More than 5 (setting documents_top_k_max) is taken as that.
        min_score: Compared with `score`; from 0 on. 0: no hit is left out for its score.
        """
        request = built(
            SearchDocumentsRequest,
            namespace=namespace,
            user_id=user_id,
            session_id=session_id,
            query=query,
            limit=limit,
            min_score=min_score,
        )
        return self._call("KnowledgeService/SearchDocuments", request, SearchDocumentsResponse, checked(timeout))

    def get_summary(
        self, *, session_id: str, namespace: str = "", user_id: str = "", timeout: float | None = None
    ) -> GetSummaryResponse:
        """Reads the rolling summary of a session, as it is: made in the background every few messages (settings
        summary_every_messages, summary_tail_tokens), and by Summarize and Prune. FAILED_PRECONDITION
        (SESSION_OWNER_MISMATCH).

        namespace: Empty means "default".
        user_id: Optional; a user other than the session's is refused.
        session_id: Required.
        """
        request = built(GetSummaryRequest, namespace=namespace, user_id=user_id, session_id=session_id)
        return self._call("KnowledgeService/GetSummary", request, GetSummaryResponse, checked(timeout))

    def summarize(
        self,
        *,
        session_id: str,
        namespace: str = "",
        user_id: str = "",
        max_tokens: int = 0,
        timeout: float | None = None,
    ) -> SummarizeResponse:
        """Brings the rolling summary up to now, and answers it; it is then on disk. An empty or failed result
        never replaces a good summary: the answer is then the one that was there. Pruned messages are spoken
        for, too, erased ones are not.

        Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH);
        RESOURCE_EXHAUSTED (DISK_FULL).

        namespace: Empty means "default".
        user_id: Optional; a user other than the session's is refused.
        session_id: Required.
        max_tokens: Most tokens of the summary, by the server's default tokenizer. 0: 400 (setting
            summary_budget). More than 10,000 is taken as 10,000. A summary that covers everything already is
            made shorter if it must be, and never longer.
        """
        request = built(
            SummarizeRequest, namespace=namespace, user_id=user_id, session_id=session_id, max_tokens=max_tokens
        )
        return self._call("KnowledgeService/Summarize", request, SummarizeResponse, checked(timeout))

    def get_patterns(
        self,
        *,
        namespace: str = "",
        user_id: str = "",
        session_id: str = "",
        refresh: bool = False,
        timeout: float | None = None,
    ) -> GetPatternsResponse:
        """Reads what recurs in a user's conversations. Only what is seen often enough to be no accident is a
        pattern, and each says how often. Errors: INVALID_ARGUMENT for a wrong field; FAILED_PRECONDITION
        (SESSION_OWNER_MISMATCH); with `refresh` RESOURCE_EXHAUSTED (DISK_FULL).

        namespace: Empty means "default".
        user_id: Whose patterns. Optional where session_id is given: the session's user then.
        session_id: For a session without a user, whose patterns. Required where user_id is empty.
        refresh: Recompute now, out of everything up to now, and keep that. Else they are as old as computed_at
            says (setting patterns_every_conversations).
        """
        request = built(
            GetPatternsRequest, namespace=namespace, user_id=user_id, session_id=session_id, refresh=refresh
        )
        return self._call("KnowledgeService/GetPatterns", request, GetPatternsResponse, checked(timeout))
