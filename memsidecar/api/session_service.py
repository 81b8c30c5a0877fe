"""memsidecar.v1.SessionService: decode, call, encode."""

from dataclasses import dataclass
from typing import ClassVar

from google.protobuf.descriptor import ServiceDescriptor

from memsidecar.api.bridge import Bridge
from memsidecar.api.wire import at_least, key_of, namespace_of, page_size_of, policy_of, session_of, strategy_of
from memsidecar.domain.errors import NoSuchThing
from memsidecar.domain.ids import optional_id
from memsidecar.domain.session import Head, Policy, SessionKey
from memsidecar.layers.working import WorkingMemory
from memsidecar.layers.working.pages import place_of, place_token
from memsidecar.stores.contract import Erase, SessionPage
from memsidecar.v1 import session_pb2 as pb


@dataclass(frozen=True)
class SessionService:
    descriptor: ClassVar[ServiceDescriptor] = pb.DESCRIPTOR.services_by_name["SessionService"]

    memory: WorkingMemory
    bridge: Bridge

    async def list_sessions(self, request: pb.ListSessionsRequest) -> pb.ListSessionsResponse:
        namespace, user_id = namespace_of(request), optional_id("user_id", request.user_id)
        size = page_size_of(request.page_size)
        same = pb.ListSessionsRequest(namespace=namespace, user_id=user_id).SerializeToString()
        place = place_of(request.page_token, same)
        after = (place[1], place[2]) if place else None
        heads = await self.bridge.reading(self.memory.sessions.list, SessionPage(namespace, user_id, size + 1, after))
        token = _token_behind(heads[size - 1], same) if len(heads) > size else ""
        return pb.ListSessionsResponse(sessions=[self._session(head) for head in heads[:size]], next_page_token=token)

    async def get_session(self, request: pb.GetSessionRequest) -> pb.GetSessionResponse:
        head = await self.bridge.reading(self.memory.sessions.get, key_of(request), request.user_id)
        return pb.GetSessionResponse(session=self._session(head) if head else None)

    async def set_policy(self, request: pb.SetPolicyRequest) -> pb.SetPolicyResponse:
        asked = _asked_policy(request.policy) if request.HasField("policy") else None
        user_id = optional_id("user_id", request.user_id)
        key = SessionKey(namespace_of(request), optional_id("session_id", request.session_id))
        policy = await self.bridge.writing(self.memory.policies.set, key, user_id, asked)
        return pb.SetPolicyResponse(policy=policy_of(policy))

    async def delete_session(self, request: pb.DeleteSessionRequest) -> pb.DeleteSessionResponse:
        key = key_of(request)
        if request.dry_run:
            head = await self.bridge.reading(self.memory.sessions.get, key, request.user_id)
            if head is None:
                raise NoSuchThing(f"there is no session {key.session_id!r}")
            messages = head.message_count + head.pruned_count
        else:
            command = Erase(key, request.user_id, whole=True)
            ticket = self.memory.sessions.begin_erasing(command, self.bridge.settled)
            messages = (await self.bridge.outcome(ticket)).removed_count
        receipt = pb.ErasureReceipt(messages=messages, sessions=1, dry_run=request.dry_run)
        return pb.DeleteSessionResponse(receipt=receipt)

    def _session(self, head: Head) -> pb.Session:
        policy = self.memory.policies.of(head)
        return session_of(head, policy, self.memory.gauge.budget_tokens(policy))


def _token_behind(head: Head, same: bytes) -> str:
    """By the session's own id: a number of ours would tell how many sessions others have."""
    return place_token((0, head.last_active_us, head.key.session_id), same)


def _asked_policy(policy: pb.SessionPolicy) -> Policy:
    return Policy(
        at_least("policy.auto_prune_tokens", policy.auto_prune_tokens, 0),
        strategy_of("policy.strategy", policy.strategy),
        optional_id("policy.model", policy.model),
        policy.summarize,
    )
