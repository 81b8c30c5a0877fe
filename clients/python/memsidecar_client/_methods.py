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
        """Appends one message. When the call returns, the message is on disk, and every later read returns it.

        Errors: INVALID_ARGUMENT for an invalid field; ALREADY_EXISTS (ID_CONFLICT) for an existing id with a
        different body; ABORTED (SEQUENCE_MISMATCH) when expected_sequence does not match; RESOURCE_EXHAUSTED
        (TOO_LARGE, DISK_FULL).

        namespace: Empty means "default".
        user_id: Optional. The first request that names a user makes that user the owner of the session. A later
            request that names another user is rejected.
        session_id: Required. The first message creates the session.
        message_id: Unique in its session, 1 to 256 bytes without control characters. Empty in a request: the
            client makes a UUIDv7. The id is the idempotency key: a second message with the same id, role,
            content, name, tool calls and tool_call_id is reported as a duplicate and changes nothing; with a
            different body it is ALREADY_EXISTS, reason ID_CONFLICT.
        role: Required.
        content: Plain text; the text of special tokens is treated as plain text. May be empty only for an
            assistant message with tool calls.
        name: The speaker, in a conversation with several. A query that contains the name ranks the speaker's
            messages higher.
        tool_calls: Assistant messages only. Several calls in one message are parallel calls.
        tool_call_id: Tool messages only: the id of the call. If empty, the tool message is stored without a
            call and is pruned with its neighbours.
        create_time: When the message was written. Set by the server when absent.
        metadata: At most 16 KiB, 8 levels deep. Numbers are doubles, as in JSON.
        evaluation_score: Quality of the exchange, 0 to 10. Usually set later, with Annotate. Absent means not
            rated, which differs from 0: the quality filter of episodic retrieval applies only to messages with
            a score.
        reasoning: The assistant's reasoning. Stored, not searched, and rendered into a context only with
            include_reasoning.
        vector: Input only: the message's vector from the caller's own embedder. Must have the configured
            dimensions (setting embedder_dimensions) and finite numbers, else INVALID_ARGUMENT. Need not be
            normalised. Empty: the server embeds the content and the tool calls.
        expected_sequence: The session's last sequence that the caller expects, 0 for a new session. Compared
            after the duplicate check; a mismatch is ABORTED. Absent: not compared.
        return_session: Return `session` as well.
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
        """Appends messages of one session atomically, with one acknowledgement. Errors as with Add; after an error
        no message of the batch is stored.

        namespace: Empty means "default".
        user_id: Optional, as in AddRequest.
        session_id: Required.
        messages: In conversation order; 1 to 10,000 messages, at most 4 MiB together. Messages that exist
            already are reported as duplicates, the others are appended. One conflict or one invalid message
            rejects the batch.
        expected_sequence: As in AddRequest; compared once, before the first new message.
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
        """Appends messages in bulk. Sends one response per request, in order, each when its message is durable. An
        invalid request ends the stream with its error; acknowledged messages stay stored. Requests of one
        stream may name different sessions.

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
        """Appends one user message and one assistant message as one turn, atomically. Idempotent by
        interaction_id. Errors as with Add.

        namespace: Empty means "default".
        user_id: Optional, as in AddRequest.
        session_id: Required.
        user_message: The user's message. Required, not empty.
        assistant_message: The assistant's reply. Required, not empty.
        interaction_id: The idempotency key of the turn. The two messages get the ids "<interaction_id>/user"
            and "<interaction_id>/assistant", which count against the 256 bytes of an id. Empty: made by the
            client.
        create_time: Applies to both messages. Set by the server when absent.
        metadata: Metadata of both messages: at most 16 KiB, 8 levels deep.
        evaluation_score: Quality of the exchange, 0 to 10. Applies to both messages.
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
        """Sets the evaluation score and the metadata of a stored message. NOT_FOUND when the session has no such
        message. Content, tokens and sequence do not change.

        namespace: Empty means "default".
        user_id: Optional. A user other than the session's owner is rejected.
        session_id: Required.
        message_id: Required. May name a pruned message.
        evaluation_score: 0 to 10. Absent: unchanged.
        metadata: Merged into the message's metadata. A null value removes its key. The merged metadata may have
            at most 16 KiB.
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
        user_id: Optional. A user other than the session's owner is rejected.
        session_id: Required.
        page_size: 0 means 100. Values above 1,000 are lowered to 1,000.
        page_token: The next_page_token of the previous page. Empty: the first page. Opaque, bound to the
            request's other fields.
        include_pruned: Include pruned messages, in sequence order.
        metadata_filter: Every given key must be equal. Absent or empty: no filter.
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
        user_id: Optional. A user other than the session's owner is rejected.
        session_id: Required.
        n: 1 to 10,000; larger values are lowered to 10,000. No default: 0 is INVALID_ARGUMENT. If the window
            has fewer messages, all of them are returned.
        max_tokens: 0: no limit. Whole messages only; the newest are kept first.
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
        user_id: Optional. A user other than the session's owner is rejected.
        session_id: Required.
        role: Required; ROLE_UNSPECIFIED is INVALID_ARGUMENT.
        limit: 0: no limit. Otherwise the newest are kept.
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
        """Finds messages, best first: by substring, by keywords, by meaning, or by keywords and meaning together
        (mode).

        A search sees every acknowledged message at once, pruned messages included, erased messages excluded. It
        searches the content and the names and arguments of tool calls; in the substring mode, the content only;
        never the reasoning. Only the request's own filters apply; there is no hidden threshold. For an unknown
        session the result is empty. When the index or the embedder is unavailable, the search uses the
        remaining signals, and `degraded` says so.

        All pages show the state at the first page: messages added later neither appear in them nor move hits
        between pages. In the scope of a whole namespace, and for a user whose messages do not fit into memory,
        paging ends with the last ranked candidate (SearchRequest.limit).

        Errors: INVALID_ARGUMENT for an invalid field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH).

        namespace: Empty means "default".
        user_id: The user, for SCOPE_USER. Optional if session_id is given; the default is the session's owner.
        session_id: The session, for SCOPE_SESSION. Optional if user_id is given.
        query: The text to search for. Required, unless query_vector is given and the mode is semantic.
        mode: Unspecified: hybrid.
        scope: Unspecified: SCOPE_USER if a user is known, else SCOPE_SESSION.
        limit: 0 means 10. Values above 1,000 are lowered to 1,000. In the scope of a whole namespace, and for a
            user whose messages do not fit into memory (setting episodic_memory_bytes) and that user's sessions,
            the search ranks candidates instead of all messages: the best 200 by keywords and the nearest 200 by
            vector (`limit` of each if it is above 200), and their neighbours. Paging ends with the last
            candidate; a larger limit ranks more. The substring mode has no such bound.
        min_score: The lowest `score` of a hit, 0 or more. 0: no threshold. A fixed threshold is meaningful in
            the semantic mode only: in the other modes the best hit scores high even if it matches poorly.
        roles: Empty: all roles. Messages of other roles are not returned, but count as neighbours of hits. The
            same holds for `after` and `before`.
        metadata_filter: Every given key must be equal. Absent or empty: no filter. Where the search ranks
            candidates (`limit`), the filter applies to the candidates only, so it can miss messages that match.
            In the substring mode it misses none.
        after: Only messages with a create_time later than this, in whole microseconds. Absent: no limit.
        before: Only messages with a create_time earlier than this, in whole microseconds. Absent: no limit.
        page_token: The next_page_token of the previous page. Empty: the first page. Opaque, bound to the
            request's other fields. Where the search ranks candidates (`limit`), paging ends with the last
            candidate.
        query_vector: The vector of the query, for the semantic and the hybrid mode. Must have the configured
            dimensions (setting embedder_dimensions) and finite numbers, else INVALID_ARGUMENT. Need not be
            normalised. Empty: the server embeds the query.
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
        user_id: Optional. A user other than the session's owner is rejected.
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
        """Prunes a session to a token budget. Pruned messages leave the window; Search and episodic retrieval
        still find them. System messages stay. A tool call and its results stay together. The newest
        min_messages stay even if the session then exceeds the budget (`over_budget`).

        namespace: Empty means "default".
        user_id: Optional. A user other than the session's owner is rejected.
        session_id: Required.
        max_tokens: The budget in tokens. At least 1, except with the window strategy. No default: 0 is
            INVALID_ARGUMENT.
        strategy: Unspecified: recency.
        window: The size of the window strategy, in messages. 0 means 5 (setting prune_window).
        min_messages: The number of newest messages that are kept regardless of the budget. 0 means 2 (setting
            prune_min_messages).
        dry_run: Return the result without changing anything. No summary is made.
        summarize: Update the rolling summary through the newest pruned message before pruning, so that the
            summary covers every message that leaves the window. Always extractive, never by a configured model,
            because the caller waits.
        overflow: The provider rejected the context as too long: shorten the oldest large tool results before
            pruning. The head and the tail of a result are kept, and the cut is marked. A shortened result is
            returned with `synthetic` set; the original stays stored and searchable.
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
        """Erases the session's messages and summary from every layer. Facts stay, and sequence numbers continue.
        For an unknown session removed_count is 0.

        namespace: Empty means "default".
        user_id: Optional. A user other than the session's owner is rejected.
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
        """Builds the model's context within a token budget and returns a receipt for it. Does not change stored
        messages; if the summary of a short conversation is due, it is made now rather than in the background.
        Results that cannot be retrieved before the deadline, or because the index or the embedder is
        unavailable, are omitted, and `degraded` says so.

        Errors: INVALID_ARGUMENT for an invalid field; FAILED_PRECONDITION (BUDGET_TOO_SMALL, with
        required_tokens in the metadata, when the mandatory parts do not fit; SESSION_OWNER_MISMATCH);
        RESOURCE_EXHAUSTED (TOO_LARGE for a context of more than 4 MiB).

        namespace: Empty means "default".
        user_id: Optional. A user other than the session's owner is rejected.
        session_id: Required. For an unknown session the context is built from the other sources.
        query: The query for retrieval. Empty: the newest user message.
        model: Determines tokenizer, calibration and default budget. Optional; for an unknown model tokens are
            estimated.
        max_tokens: The hard limit of the whole context. 0: the model's recommended budget, else 8,000 (setting
            context_budget). If the mandatory parts (system prompt, selected facts, the last 2 messages with
            their tool exchanges, schemas, reserve, framing) do not fit, the call is FAILED_PRECONDITION, reason
            BUDGET_TOO_SMALL, with required_tokens in the metadata.
        system_prompt: Empty: the session's system messages.
        profile: A text about the user, supplied by the caller. Empty: none.
        tool_schemas_json: The tool schemas that the caller sends to the model. Counted as text; neither parsed
            nor rendered.
        reserve_output_tokens: Tokens reserved for the model's output, part of max_tokens. 0 or more; 0: no
            reserve.
        documents: Chunks supplied by the caller, best first. They precede retrieved chunks in the documents
            section. At most 1,000; empty chunks are ignored.
        sections: Deviations from the defaults, each section at most once.
        scope: The scope for retrieving messages. Unspecified: SCOPE_USER if a user is known, else
            SCOPE_SESSION. SCOPE_USER without a user in the request or the session is INVALID_ARGUMENT.
        append_query: Render `query`, which is then required, as the last user message.
        debug: List rejected items in the receipt as well.
        query_vector: The vector of the query. Must have the configured dimensions (setting embedder_dimensions)
            and finite numbers, else INVALID_ARGUMENT. Need not be normalised. Empty: the server embeds the
            query.
        include_reasoning: Render the assistant's reasoning as well.
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
        """Reports the tokens that the provider charged. The server corrects its estimates for that model.

        namespace: Empty means "default".
        user_id: Optional.
        session_id: Optional.
        model: Required: the model that was called. The server stores the correction under this name.
        estimated_tokens: The sidecar's count for this context: total_tokens without the reserve, with the
            factor of that time applied. At least 1.
        actual_tokens: The tokens that the provider charged for the same input. At least 1.
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
        """Lists sessions, the most recently active first.

        namespace: Empty means "default".
        user_id: Empty: sessions of all users.
        page_size: 0 means 100. Values above 1,000 are lowered to 1,000.
        page_token: The next_page_token of the previous page. Empty: the first page. Opaque, bound to the
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
        """Reads one session. For an unknown session the response has no `session`.

        namespace: Empty means "default".
        user_id: Optional. A user other than the session's owner is rejected.
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
        """Sets the policy for automatic pruning and summaries of a session; without session_id, the namespace's
        default policy. The given policy replaces the previous one as a whole.

        namespace: Empty means "default".
        user_id: Optional, as in AddRequest.
        session_id: Empty: the default of the namespace, for sessions without a policy of their own.
        policy: Replaces the previous policy as a whole. Absent: the default is restored.
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
        """Erases a session from every layer, including facts that come from this session only. NOT_FOUND, also in
        a dry run, if no layer stores anything of the session.

        namespace: Empty means "default".
        user_id: Optional. A user other than the session's owner is rejected.
        session_id: Required.
        dry_run: Return the counts without erasing anything.
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
        """Erases one message from every layer, and everything that was derived from this message only. NOT_FOUND
        when the session has no such message.

        namespace: Empty means "default".
        user_id: Optional. A user other than the session's owner is rejected.
        session_id: Required.
        message_id: Required.
        dry_run: Return the counts without erasing anything.
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
        """Erases a user from every layer: all of the user's sessions, facts, patterns, summaries, artifacts and
        documents.

        namespace: Empty means "default".
        user_id: Required.
        dry_run: Return the counts without erasing anything.
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
        """Streams the stored records, one per response, in an order that Import accepts. To resume an interrupted
        stream, pass the last received cursor.

        namespace: Empty means "default".
        user_id: Empty: no filter.
        session_id: Empty: all sessions of the user or of the namespace.
        cursor: Resume after this cursor. Empty: from the beginning. Opaque, bound to the request's other
            fields.
        """
        request = built(ExportRequest, namespace=namespace, user_id=user_id, session_id=session_id, cursor=cursor)
        return self._answers("SessionService/Export", request, ExportResponse, checked(timeout))

    def import_(
        self, requests: Iterable[ImportRequest | ImportRequestDict], *, timeout: float | None = None
    ) -> Iterator[ImportResponse]:
        """Stores records of an archive or of another system's history. Sends one response per durable batch, so
        that an interrupted import can resume. Records that exist already are counted as duplicates and change
        nothing. An invalid record ends the stream with its error; acknowledged records stay stored.

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
        """Streams change events, from now on or from a cursor. Ends when the caller cancels, or with UNAVAILABLE
        when the sidecar stops.

        namespace: Empty means "default".
        user_id: Empty: all users.
        session_id: Empty: all sessions of the user or of the namespace.
        cursor: Empty: from now on. Otherwise the cursor of the last received event; the events since then come
            first.
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
        """Stores facts atomically. When the call returns, they are on disk. A fact with the key of a current fact
        and another value supersedes it; the superseded fact stays in the history. A fact with the same value
        only updates last_updated. A fact whose own valid_from or last_updated is earlier than the current
        fact's goes into the history at once; a fact without times is the newest. Facts that the server extracts
        from messages never supersede a pinned fact.

        Keys and values are compared without case, white space and a full stop at the end.

        Errors: INVALID_ARGUMENT for an invalid field, with its path ("facts[1].key"); FAILED_PRECONDITION
        (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a request of more than 3 MiB; DISK_FULL).

        namespace: Empty means "default".
        user_id: The owner of the facts. Optional if session_id is given; the default is the session's owner.
        session_id: The session that the facts come from; for a session without a user, their owner. Need not
            exist yet. Required if user_id is empty.
        facts: 1 to 1,000, stored atomically and applied in order.
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
        """Reads the current facts of a user (or of a session without a user), ordered by confidence (highest
        first), then last_updated (newest first), then id. If there are more than 10,000, only the most recently
        updated are considered.

        namespace: Empty means "default".
        user_id: The owner of the facts. Optional if session_id is given; the default is the session's owner.
        session_id: The owner of the facts, for a session without a user.
        types: Empty: no filter.
        include_history: Include superseded facts.
        page_size: 0 means 100. Values above 1,000 are lowered to 1,000.
        page_token: The next_page_token of the previous page. Empty: the first page. Opaque, bound to the
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
        """Erases one fact, current or superseded, from every file. NOT_FOUND when the user has no fact with this
        id. Erasing a fact does not restore the fact that it superseded.

        namespace: Empty means "default".
        user_id: The owner of the fact. Optional if session_id is given; the default is the session's owner.
        session_id: The owner of the fact, for a session without a user.
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
        """Stores a compact tool result, or moves a large tool result out of the window (`offload_message_id`): the
        server stores the artifact first, then replaces the message in the window by a preview. When the call
        returns, the artifact is on disk. The call is idempotent.

        Errors: INVALID_ARGUMENT for an invalid field; NOT_FOUND for an unknown message; FAILED_PRECONDITION
        (SESSION_OWNER_MISMATCH); RESOURCE_EXHAUSTED (TOO_LARGE for a content of more than 1 MiB, setting
        max_message_bytes; DISK_FULL).

        namespace: Empty means "default".
        user_id: Optional. A user other than the session's owner is rejected.
        session_id: Required. Need not exist yet, unless a message is offloaded.
        artifact_id: Unique in its session. Empty in a request: made by the client; for an offloaded message,
            derived from the message. A stored artifact with the same id is replaced.
        source: The origin: a tool's name, a URL. At most 1,024 bytes. Empty for an offloaded message: the
            message's name.
        content: The text, at most 1 MiB (setting max_message_bytes). Required, unless a message is offloaded:
            then it must be empty, and the server copies the message's whole content.
        create_time: Set by the server when absent. Unchanged as long as the content is unchanged.
        expire_time: After this time the artifact is neither listed nor put into a context. Must be after
            create_time. Absent: never expires.
        metadata: At most 16 KiB, 8 levels deep.
        offload_message_id: Replace this stored tool message in the window by a preview of at most
            `preview_tokens`; the artifact holds the whole content. NOT_FOUND when the session has no such
            message; INVALID_ARGUMENT when its role is not tool. A message that is not longer than the preview,
            or that is pruned, stays unchanged. The original stays stored and searchable. Empty: nothing is
            replaced.
        preview_tokens: Tokens of the preview: its head, its tail, and a line that names the artifact. The line
            is always included. 0 means 128 (setting overflow_keep_tokens).
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
        """Reads the artifacts of a session, newest first by create_time, then by id. Expired artifacts are
        omitted.

        namespace: Empty means "default".
        user_id: Optional. A user other than the session's owner is rejected.
        session_id: Required.
        page_size: 0 means 100. Values above 1,000 are lowered to 1,000.
        page_token: The next_page_token of the previous page. Empty: the first page. Opaque, bound to the
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
        """Erases one artifact from every file. NOT_FOUND when the session has no artifact with this id. An
        offloaded message stays stored, and its preview stays in the window.

        namespace: Empty means "default".
        user_id: Optional. A user other than the session's owner is rejected.
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
        """Stores a document and its chunks. When the call returns, they are on disk, and every later search finds
        them. An identical document changes nothing (`unchanged`). A new text replaces all chunks atomically: no
        search sees chunks of both versions. A new title, source or metadata with the same text replaces only
        these fields.

        Errors: INVALID_ARGUMENT for an invalid field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH);
        RESOURCE_EXHAUSTED (TOO_LARGE for a text of more than 3 MiB, setting max_document_bytes, or of more than
        50,000 chunks; DISK_FULL).

        namespace: Empty means "default".
        user_id: Without session_id: visible to this user only. With session_id: a user other than the session's
            owner is rejected. With neither: visible to the namespace.
        session_id: Visible to this session only. Need not exist yet.
        document_id: Required, 1 to 256 bytes without control characters. Chosen by the caller. A stored
            document with the same id is replaced.
        title: A display title, not searched. Optional, at most 1,024 bytes.
        text: Input only. Required, not only white space, at most 3 MiB (setting max_document_bytes).
        source: The origin: a file name, a URL. At most 1,024 bytes.
        metadata: At most 16 KiB, 8 levels deep.
        create_time: When the document was written or stored. Set by the server when absent. Unchanged as long
            as the text is unchanged.
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
        """Lists the documents of the namespace, a user or a session, without their text, ordered by id.

        namespace: Empty means "default".
        user_id: Without session_id: this user's documents. With session_id: a user other than the session's
            owner is rejected. With neither: the namespace's documents.
        session_id: Only the documents of this session.
        page_size: 0 means 100. Values above 1,000 are lowered to 1,000.
        page_token: The next_page_token of the previous page. Empty: the first page. Opaque, bound to the
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
        """Erases a document and its chunks from every file. NOT_FOUND when the namespace, user or session that the
        request names has no document with this id.

        namespace: Empty means "default".
        user_id: Without session_id: the owner of the document. With session_id: a user other than the session's
            owner is rejected.
        session_id: The session that owns the document. With neither user_id nor session_id, the namespace owns
            it.
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
        """Finds chunks of the documents that are visible to the caller, best first: the namespace's, the user's
        and the session's documents together. Chunks are ranked like messages in the hybrid mode of Search, with
        adjacent chunks as neighbours and the document in place of the session. Titles are not searched. A
        document is found as soon as it is stored, and no longer found once it is replaced or deleted. While the
        index is unavailable, the search ranks the documents with the lowest ids: up to 200 documents and 2,000
        chunks of each owner.

        namespace: Empty means "default".
        user_id: The user's documents are searched in addition to the namespace's. If only session_id is given,
            the user is the session's owner.
        session_id: The session's documents are searched in addition to the namespace's. A session of another
            user is rejected.
        query: Required. Matched as in the hybrid mode of Search.
        limit: 0 means 3 (setting documents_top_k). Values above 5 are lowered to 5 (setting
            documents_top_k_max).
        min_score: The lowest `score` of a hit, 0 or more. 0: no threshold.
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
        """Reads the stored rolling summary of a session. A background task updates it every few messages (settings
        summary_every_messages, summary_tail_tokens), and so do Summarize and Prune. FAILED_PRECONDITION
        (SESSION_OWNER_MISMATCH).

        namespace: Empty means "default".
        user_id: Optional. A user other than the session's owner is rejected.
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
        """Updates the rolling summary through the newest message, stores it on disk and returns it. An empty or
        failed result never replaces an existing summary; the existing summary is returned instead. The summary
        covers pruned messages, not erased messages.

        Errors: INVALID_ARGUMENT for an invalid field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH);
        RESOURCE_EXHAUSTED (DISK_FULL).

        namespace: Empty means "default".
        user_id: Optional. A user other than the session's owner is rejected.
        session_id: Required.
        max_tokens: The maximum tokens of the summary, by the server's default tokenizer. 0 means 400 (setting
            summary_budget). Values above 10,000 are lowered to 10,000. A summary that covers all messages
            already is shortened if necessary, never extended.
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
        """Reads the patterns that recur in a user's conversations. A pattern is reported only if its frequency is
        statistically significant, and `evidence` says how often it was observed. Errors: INVALID_ARGUMENT for
        an invalid field; FAILED_PRECONDITION (SESSION_OWNER_MISMATCH); with `refresh` RESOURCE_EXHAUSTED
        (DISK_FULL).

        namespace: Empty means "default".
        user_id: The owner of the patterns. Optional if session_id is given; the default is the session's owner.
        session_id: The owner of the patterns, for a session without a user. Required if user_id is empty.
        refresh: Recompute the patterns now from all conversations, and store them. Otherwise the stored
            patterns are returned; computed_at is their age (setting patterns_every_conversations).
        """
        request = built(
            GetPatternsRequest, namespace=namespace, user_id=user_id, session_id=session_id, refresh=refresh
        )
        return self._call("KnowledgeService/GetPatterns", request, GetPatternsResponse, checked(timeout))
