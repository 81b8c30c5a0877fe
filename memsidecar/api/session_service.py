"""memsidecar.v1.SessionService: the table of its RPCs and their handlers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from google.protobuf.descriptor import ServiceDescriptor

from memsidecar.api.archive_export import ExportHandler
from memsidecar.api.archive_import import ImportHandler
from memsidecar.api.executors import Executors
from memsidecar.api.handlers import Handler, WatchHandler
from memsidecar.api.interceptors.call import caller_is_admin
from memsidecar.api.page_tokens import PageTokens
from memsidecar.api.watch import EventStreams
from memsidecar.api.wire import (
    key_of,
    namespace_of,
    page_size_of,
    parse_policy,
    policy_of,
    receipt_of,
    session_of,
    user_of,
)
from memsidecar.domain.ids import check_id, optional_id
from memsidecar.domain.quota import QuotaLookup
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.layers.background.task import SessionWatermarks
from memsidecar.layers.working.memory import WorkingMemory
from memsidecar.stores.contract import Erase, Erased, EraseUser, Erasure, SessionQuery, UserQuery
from memsidecar.v1 import session_pb2 as pb


@dataclass(frozen=True)
class SessionService:
    descriptor: ClassVar[ServiceDescriptor] = pb.DESCRIPTOR.services_by_name["SessionService"]

    memory: WorkingMemory
    executors: Executors
    page_tokens: PageTokens
    watermarks: SessionWatermarks
    streams: EventStreams
    quota_of: QuotaLookup
    is_indexed: bool
    archive_export: ExportHandler
    archive_import: ImportHandler

    def rpcs(self) -> Mapping[str, Handler | WatchHandler]:
        return {
            "ListSessions": self.list_sessions,
            "GetSession": self.get_session,
            "ListUsers": self.list_users,
            "GetUsage": self.get_usage,
            "SetPolicy": self.set_policy,
            "DeleteSession": self.delete_session,
            "ForgetMessage": self.forget_message,
            "ForgetUser": self.forget_user,
            "Export": self.archive_export.export,
            "Import": self.archive_import.import_records,
            "Watch": WatchHandler(self.streams.watch),
        }

    async def list_sessions(self, request: pb.ListSessionsRequest) -> pb.ListSessionsResponse:
        namespace, user_id = namespace_of(request), optional_id("user_id", request.user_id)
        size = page_size_of(request.page_size)
        after = cast(tuple[int, str] | None, self.page_tokens.decode(request, int, str))
        page = SessionQuery(namespace, user_id, size + 1, after)
        heads, sessions = await self.executors.run_read(self._list, page)
        token = self.page_tokens.encode(request, _cursor(heads[size - 1]) if len(heads) > size else None)
        return pb.ListSessionsResponse(sessions=sessions[:size], next_page_token=token)

    async def get_session(self, request: pb.GetSessionRequest) -> pb.GetSessionResponse:
        return await self.executors.run_read(self._get, key_of(request), request.user_id)

    async def list_users(self, request: pb.ListUsersRequest) -> pb.ListUsersResponse:
        namespace, prefix = namespace_of(request), optional_id("user_id_prefix", request.user_id_prefix)
        size = page_size_of(request.page_size)
        (after_id,) = cast(tuple[str], self.page_tokens.decode(request, str) or ("",))
        page = UserQuery(namespace, prefix, size + 1, after_id)
        users = await self.executors.run_read(self.memory.sessions.users, page)
        token = self.page_tokens.encode(request, [users[size - 1].user_id] if len(users) > size else None)
        return pb.ListUsersResponse(users=map(user_of, users[:size]), next_page_token=token)

    async def get_usage(self, request: pb.GetUsageRequest) -> pb.GetUsageResponse:
        namespace = namespace_of(request)
        usage = await self.executors.run_read(self.memory.sessions.usage, namespace)
        quota = self.quota_of(namespace)
        return pb.GetUsageResponse(
            usage=pb.NamespaceUsage(sessions=usage.sessions, messages=usage.messages, bytes=usage.bytes),
            quota=pb.NamespaceQuota(sessions=quota.sessions, messages=quota.messages, bytes=quota.bytes),
        )

    async def set_policy(self, request: pb.SetPolicyRequest) -> pb.SetPolicyResponse:
        policy = parse_policy(request.policy) if request.HasField("policy") else None
        user_id = optional_id("user_id", request.user_id)
        key = SessionKey(namespace_of(request), optional_id("session_id", request.session_id))
        stored = await self.executors.run_write(self.memory.policies.set, key, user_id, policy, caller_is_admin.get())
        return pb.SetPolicyResponse(policy=policy_of(stored))

    async def delete_session(self, request: pb.DeleteSessionRequest) -> pb.DeleteSessionResponse:
        command = Erase(key_of(request), request.user_id, delete_session=True)
        return pb.DeleteSessionResponse(receipt=await self._erase(command, request.dry_run))

    async def forget_message(self, request: pb.ForgetMessageRequest) -> pb.ForgetMessageResponse:
        message_ids = [check_id("message_id", request.message_id)]
        command = self.memory.sessions.forget_command(key_of(request), request.user_id, message_ids)
        return pb.ForgetMessageResponse(receipt=await self._erase(command, request.dry_run))

    async def forget_user(self, request: pb.ForgetUserRequest) -> pb.ForgetUserResponse:
        command = EraseUser(namespace_of(request), check_id("user_id", request.user_id))
        return pb.ForgetUserResponse(receipt=await self._erase(command, request.dry_run))

    async def _erase(self, command: Erasure, dry_run: bool) -> pb.ErasureReceipt:
        if dry_run:
            counts = await self.executors.run_read(self.memory.sessions.erasure_counts, command)
        else:
            pending = self.memory.sessions.submit_erase(command, self.executors.on_done)
            erased: Erased = await self.executors.wait_for(pending)
            counts = erased.counts
        index_rows = counts.messages + counts.chunks if self.is_indexed else 0
        return receipt_of(counts, index_rows, dry_run)

    def _list(self, page: SessionQuery) -> tuple[Sequence[SessionHead], list[pb.Session]]:
        heads = self.memory.sessions.list(page)
        return heads, self._sessions(page.namespace, heads)

    def _get(self, key: SessionKey, user_id: str) -> pb.GetSessionResponse:
        head = self.memory.sessions.get(key, user_id)
        return pb.GetSessionResponse(session=self._sessions(key.namespace, [head])[0] if head else None)

    def _sessions(self, namespace: str, heads: Sequence[SessionHead]) -> list[pb.Session]:
        watermarks = self.watermarks(namespace, heads)
        return [self._session(head, marks) for head, marks in zip(heads, watermarks, strict=True)]

    def _session(self, head: SessionHead, watermarks: Mapping[str, int]) -> pb.Session:
        policies, budget = self.memory.policies, self.memory.budgets.or_default(head)
        return session_of(head, policies.of(head), policies.retention_of(head), budget, watermarks)


def _cursor(head: SessionHead) -> tuple[int, str]:
    return head.last_active_us, head.key.session_id
