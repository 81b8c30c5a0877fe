"""Arbitrary commands to the journal on disk and to its reference: equal results, equal reads.

Each journal sets its own times, and the window's start on disk is a lower bound. All else must be equal.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.message import Draft, Role, StoredMessage
from memsidecar.domain.quota import NO_QUOTA, Quota
from memsidecar.domain.session import Policy, SessionHead, SessionKey, Strategy
from memsidecar.stores.contract import (
    ANY_SIZE,
    AddDeadLetter,
    Append,
    Appended,
    Calibrate,
    Calibration,
    Claim,
    Command,
    DeleteDocument,
    DocumentQuery,
    Erase,
    EraseUser,
    Erasure,
    Event,
    ExpireMessages,
    ExpiryQuery,
    ForgetMessages,
    ImportDocument,
    ImportMessages,
    ImportSession,
    Journal,
    LogFilter,
    MessageImport,
    MessageQuery,
    Owner,
    PendingCommand,
    PolicySet,
    PutDocument,
    Scope,
    SessionImport,
    SessionQuery,
    SetPolicy,
    UpdateMessage,
    UpdateWindow,
    UpdateWindowExclusive,
    UserQuery,
)
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.stores.volatile.journal import VolatileJournal
from memsidecar.v1.message_pb2 import Message
from tests.conformance.builders import DERIVATIONS, Replica, document, draft, follow, recount, scored, shortened
from tests.support.differential import EXAMPLES

KEYS = [SessionKey("n", "a"), SessionKey("n", "b"), SessionKey("o", "a")]
USERS = ["", "", "", "ann", "bob"]
OWNERS = [Owner("n"), Owner("n", "ann"), Owner("n", "", "a"), Owner("o", "", "a")]

keys = st.sampled_from(KEYS)
users = st.sampled_from(USERS)
log_filters = st.none() | st.builds(LogFilter, users, st.integers(0, 9))
owners = st.sampled_from(OWNERS)
names = st.sampled_from(["d", "e"])
calls = st.lists(st.sampled_from("xyz"), max_size=2).map(tuple)


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    """Few ids and few words, so that duplicates and conflicts are common; role follows calls and answers."""
    role = draw(st.sampled_from(Role))
    words = draw(st.sampled_from(["one", "two"]))
    message_id = f"m{draw(st.integers(0, 30))}"
    tokens = draw(st.integers(1, 100))
    if role == Role.ASSISTANT:
        return draft(words, message_id=message_id, role=role, tokens=tokens, calls=draw(calls))
    if role == Role.TOOL:
        return draft(words, message_id=message_id, role=role, tokens=tokens, answers=draw(st.sampled_from("xyz")))
    return draft(words, message_id=message_id, role=role, tokens=tokens)


imports = st.builds(
    MessageImport,
    st.sampled_from([key for key in KEYS if key.namespace == "n"]),
    users,
    drafts(),
    st.integers(0, 40),
    st.booleans(),
    st.none() | st.just((draft("cut").body, 1)),
)


selections = st.builds(
    MessageQuery,
    after=st.integers(0, 12),
    before=st.none() | st.integers(0, 20),
    limit=st.integers(1, 8),
    newest_first=st.booleans(),
    include_pruned=st.booleans(),
    role=st.sampled_from([0, *Role]),
    bodies=st.booleans(),
    max_bytes=st.sampled_from([1, 30, 100, 3 << 20]),
)


def comparable(head: SessionHead | None) -> SessionHead | None:
    if head is None:
        return None
    return replace(head, window_start=0, create_time_us=0, last_active_us=0)


def comparable_result(result: Any) -> Any:
    if isinstance(result, SessionHead):
        return comparable(result)
    if isinstance(result, Appended | PolicySet) or hasattr(result, "head"):
        return replace(result, head=comparable(result.head))
    return result


def comparable_event(event: Event) -> Event:
    return event._replace(time_us=0)


class Differential(RuleBasedStateMachine):
    """Each rule submits the same command to both journals and compares the results."""

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.quotas: dict[str, Quota] = {}
        self.disk: Journal = SqliteJournal(Path(self.folder.name), quotas=self.quota)
        self.ram: Journal = VolatileJournal(quotas=self.quota)
        self.active_us: list[dict[SessionKey, int]] = [{}, {}]
        self.replicas = {"disk": Replica(self.disk), "ram": Replica(self.ram)}

    def quota(self, namespace: str) -> Quota:
        return self.quotas.get(namespace, NO_QUOTA)

    def teardown(self) -> None:
        self.disk.close()
        self.folder.cleanup()

    def submit_to_both(self, command: Callable[[Journal], Command]) -> None:
        results = [self.results(journal, [command(journal)]) for journal in (self.disk, self.ram)]
        assert results[0] == results[1]

    def results(self, journal: Journal, commands: Sequence[Command]) -> list[Any]:
        """Return the results of commands that are submitted without waiting in between."""
        pending = [PendingCommand(command) for command in commands]
        for pending_command in pending:
            journal.submit(pending_command)
        return [self.result_of(pending_command) for pending_command in pending]

    def result_of(self, pending_command: PendingCommand) -> Any:
        try:
            return comparable_result(pending_command.wait())
        except SidecarError as error:
            return type(error), str(error)

    @rule(
        key=keys, user=users, batch=st.lists(drafts(), min_size=1, max_size=4), expected=st.none() | st.integers(0, 5)
    )
    def append(self, key: SessionKey, user: str, batch: list[Draft], expected: int | None) -> None:
        self.submit_to_both(lambda _: Append(key, user, batch, expected))

    @rule(commands=st.lists(st.tuples(keys, users, st.lists(drafts(), min_size=1, max_size=2)), max_size=6))
    def append_in_one_group(self, commands: list[tuple[SessionKey, str, list[Draft]]]) -> None:
        group = [Append(key, user, batch) for key, user, batch in commands]
        assert self.results(self.disk, group) == self.results(self.ram, group)

    @rule(
        batches=st.lists(st.tuples(st.lists(imports, min_size=1, max_size=5), st.booleans()), min_size=1, max_size=3),
        key=keys,
        new=drafts(),
        erasure=st.sampled_from([None, EraseUser("n", "ann"), Erase(KEYS[0], "", delete_session=True)]),
    )
    def import_messages_in_one_group(
        self, batches: list[tuple[list[MessageImport], bool]], key: SessionKey, new: Draft, erasure: Command | None
    ) -> None:
        group: list[Command] = [Append(key, "", [new])] + ([erasure] if erasure else [])
        group += [ImportMessages(batch, override) for batch, override in batches]
        assert self.results(self.disk, [*group, group[0]]) == self.results(self.ram, [*group, group[0]])

    @rule(key=keys, user=users, sequence=st.integers(0, 40), policy=st.none() | st.builds(Policy, st.integers(0, 9)))
    def import_session(self, key: SessionKey, user: str, sequence: int, policy: Policy | None) -> None:
        self.submit_to_both(lambda _: ImportSession(SessionImport(key, user, 1, 2, sequence, policy)))

    @rule(owner=owners, name=names, user=users, override=st.booleans())
    def import_document(self, owner: Owner, name: str, user: str, override: bool) -> None:
        self.submit_to_both(lambda _: ImportDocument(document("text", name=name, owner=owner), user, override))

    @rule(user=users, session=st.sampled_from(["", "a", "b"]))
    def export(self, user: str, session: str) -> None:
        scope, positions = (
            Scope("n", user, session),
            [journal.archive_position("n") for journal in (self.disk, self.ram)],
        )
        assert positions[0][:2] == positions[1][:2] and positions[0].document == positions[1].document
        exports = []
        for journal, position in zip((self.disk, self.ram), positions, strict=True):
            sessions = [comparable(head) for head in journal.archived_sessions(scope, position, "", 9)]
            messages = journal.archived_messages(scope, position, 0).items
            exports.append((sessions, list(messages), list(journal.archived_documents(scope, position, 0).items)))
        assert exports[0] == exports[1]

    @rule(key=keys, user=users, number=st.integers(0, 30), score=st.integers(0, 10))
    def annotate(self, key: SessionKey, user: str, number: int, score: int) -> None:
        self.submit_to_both(lambda _: UpdateMessage(key, user, f"m{number}", scored(score, f"mark {score}")))

    @rule(key=keys, data=st.data())
    def update_window(self, key: SessionKey, data: st.DataObject) -> None:
        window = self.ram.messages(key, MessageQuery()).messages
        sequences = [stored.sequence for stored in window] or [1]
        removed = data.draw(st.lists(st.sampled_from([*sequences, 99] if not window else sequences), max_size=4))
        cut: list[StoredMessage] = data.draw(st.lists(st.sampled_from(window), max_size=2)) if window else []
        short = [shortened(stored, "cut", 1) for stored in cut]
        self.submit_to_both(lambda journal: UpdateWindow(key, self.version(journal, key), removed, short))

    @rule(key=keys, at=st.integers(0, 3))
    def update_window_exclusively(self, key: SessionKey, at: int) -> None:
        def decide(journal: Journal) -> UpdateWindow:
            page = journal.messages(key, MessageQuery(limit=4))
            return UpdateWindow(
                key, page.head.version if page.head else 0, [stored.sequence for stored in page.messages[at : at + 1]]
            )

        self.submit_to_both(lambda journal: UpdateWindowExclusive(key, lambda: decide(journal)))

    def version(self, journal: Journal, key: SessionKey) -> int:
        head = journal.head(key)
        return head.version if head else 0

    @rule(key=keys, behind=st.integers(1, 3))
    def update_window_with_an_old_version(self, key: SessionKey, behind: int) -> None:
        self.submit_to_both(lambda journal: UpdateWindow(key, self.version(journal, key) - behind, (1,)))

    @rule(key=keys, user=users, delete_session=st.booleans(), again=st.lists(drafts(), min_size=1, max_size=2))
    def erase(self, key: SessionKey, user: str, delete_session: bool, again: list[Draft]) -> None:
        command = Erase(key, user, delete_session)
        assert self.erasure_counts(self.disk, command) == self.erasure_counts(self.ram, command)
        group: list[Command] = [command, Append(key, user, again)]
        assert self.results(self.disk, group) == self.results(self.ram, group)

    @rule(user=users, key=keys, again=st.lists(drafts(), min_size=1, max_size=2))
    def erase_user(self, user: str, key: SessionKey, again: list[Draft]) -> None:
        command = EraseUser(key.namespace, user)
        assert self.erasure_counts(self.disk, command) == self.erasure_counts(self.ram, command)
        group: list[Command] = [Append(key, user, again), command, Append(key, user, again)]
        assert self.results(self.disk, group) == self.results(self.ram, group)

    @rule(
        key=keys,
        user=users,
        numbers=st.lists(st.integers(0, 30), min_size=1, max_size=3),
        again=st.lists(drafts(), min_size=1, max_size=2),
    )
    def forget_messages(self, key: SessionKey, user: str, numbers: list[int], again: list[Draft]) -> None:
        known = [Message.FromString(each.body).id for each in self.ram.messages(key, MessageQuery()).messages]
        named = [known[number % len(known)] if known and number % 4 else f"m{number}" for number in numbers]
        command = ForgetMessages(key, user, named, DERIVATIONS)
        counted = [self.erasure_counts(journal, command) for journal in (self.disk, self.ram)]
        assert counted[0] == counted[1]
        group: list[Command] = [command, Append(key, user, again), command]
        assert self.results(self.disk, group) == self.results(self.ram, group)

    @rule(
        key=keys, behind=st.integers(-3, 1), sequences=st.lists(st.integers(1, 20), max_size=6), held=st.integers(0, 9)
    )
    def expire_messages(self, key: SessionKey, behind: int, sequences: list[int], held: int) -> None:
        head = self.ram.head(key)
        row_id = head.row_id - max(behind, 0) if head else 9

        def is_held(body: bytes) -> bool:
            return len(body) % 10 == held

        command = ExpireMessages(key, row_id, sequences, DERIVATIONS, is_held)
        assert self.erasure_counts(self.disk, command) == self.erasure_counts(self.ram, command)
        self.submit_to_both(lambda _: command)

    @rule(key=keys, keep=st.integers(1, 9), below=st.integers(1, 20), after=st.integers(0, 9), limit=st.integers(1, 5))
    def find_expired(self, key: SessionKey, keep: int, below: int, after: int, limit: int) -> None:
        """Times differ between the journals, so the boundary is by count."""
        head = self.ram.head(key)
        row_id = head.row_id if head else 9
        found = []
        for journal in (self.disk, self.ram):
            boundary = journal.expiry_boundary(row_id, ExpiryQuery(keep=keep))
            found.append((boundary, journal.expired_messages(row_id, below, after, limit)))
        assert found[0] == found[1]
        assert [each.key for each in self.disk.sessions_after(0, 2)] == [
            each.key for each in self.ram.sessions_after(0, 2)
        ]

    def erasure_counts(self, journal: Journal, command: Erasure) -> Any:
        try:
            return journal.erasure_counts(command)
        except SidecarError as error:
            return type(error), str(error)

    @rule(key=keys, lsn=st.integers(0, 40))
    def sequences_at(self, key: SessionKey, lsn: int) -> None:
        heads = [journal.head(key) for journal in (self.disk, self.ram)]
        found = [
            list(journal.sequences_at([(head, lsn)])) if head else []
            for journal, head in zip((self.disk, self.ram), heads, strict=True)
        ]
        assert found[0] == found[1]

    @rule(
        key=st.sampled_from([*KEYS, SessionKey("n", "")]),
        user=users,
        policy=st.none()
        | st.builds(Policy, st.integers(0, 9), st.sampled_from(Strategy), st.sampled_from(["", "gpt"])),
    )
    def set_policy(self, key: SessionKey, user: str, policy: Policy | None) -> None:
        self.submit_to_both(lambda _: SetPolicy(key, user, policy))

    @rule(key=keys, user=users)
    def claim(self, key: SessionKey, user: str) -> None:
        self.submit_to_both(lambda _: Claim(key, user))

    @rule(factor=st.sampled_from([0.5, 1.5]))
    def calibrate(self, factor: float) -> None:
        self.submit_to_both(
            lambda _: Calibrate("n", "m", lambda now: Calibration(now.factor * factor, now.reports + 1))
        )

    @rule(
        owner=owners,
        name=names,
        texts=st.lists(st.sampled_from(["one", "two"]), max_size=3),
        title=st.sampled_from(["T", "U"]),
        chunking=st.sampled_from(["", "", "finer"]),
    )
    def put(self, owner: Owner, name: str, texts: list[str], title: str, chunking: str) -> None:
        given = document(*texts, name=name, owner=owner, title=title, chunking=chunking)
        self.submit_to_both(lambda _: PutDocument(given))

    @rule(commands=st.lists(st.tuples(owners, names, st.sampled_from(["one", "two", ""])), max_size=5), key=keys)
    def put_and_delete_in_one_group(self, commands: list[tuple[Owner, str, str]], key: SessionKey) -> None:
        group: list[Command] = [
            PutDocument(document(text, name=name, owner=owner)) if text else DeleteDocument(owner, name)
            for owner, name, text in commands
        ]
        group.insert(len(group) // 2, Erase(key, "", delete_session=True))
        assert self.results(self.disk, group) == self.results(self.ram, group)

    @rule(owner=owners, name=names)
    def delete(self, owner: Owner, name: str) -> None:
        self.submit_to_both(lambda _: DeleteDocument(owner, name))

    @rule(lsn=st.integers(1, 3), namespace=st.sampled_from("no"), reason=st.sampled_from(["why", "because"]))
    def add_dead_letter(self, lsn: int, namespace: str, reason: str) -> None:
        self.submit_to_both(lambda _: AddDeadLetter("task", namespace, lsn, reason))

    @rule()
    def reopen(self) -> None:
        self.disk.close()
        self.disk = SqliteJournal(Path(self.folder.name), quotas=self.quota)
        replica = self.replicas["disk"]
        self.disk.subscribe(replica.apply)

    @rule(key=keys, selection=selections)
    def read(self, key: SessionKey, selection: MessageQuery) -> None:
        disk, ram = self.disk.messages(key, selection), self.ram.messages(key, selection)
        assert (list(disk.messages), disk.truncated) == (list(ram.messages), ram.truncated)
        assert comparable(disk.head) == comparable(ram.head)

    @rule(user=users, session=st.sampled_from(["", "a", "b"]), limit=st.integers(1, 9), skipped=st.integers(0, 3))
    def scan(self, user: str, session: str, limit: int, skipped: int) -> None:
        scope = Scope("n", user, session)
        found = []
        for journal in (self.disk, self.ram):
            start = [message.lsn for message in journal.scan(scope, None, skipped)]
            found.append(list(journal.scan(scope, min(start, default=None), limit)))
        assert found[0] == found[1]

    @rule(
        namespace=st.sampled_from("no"),
        after=st.integers(0, 40),
        limit=st.integers(1, 9),
        log_filter=log_filters,
        max_bytes=st.sampled_from([20, ANY_SIZE]),
    )
    def follow(self, namespace: str, after: int, limit: int, log_filter: LogFilter | None, max_bytes: int) -> None:
        disk, ram = (
            list(journal.read_changes(namespace, after, limit, log_filter, max_message_bytes=max_bytes))
            for journal in (self.disk, self.ram)
        )
        assert disk == ram

    @rule(session=st.integers(1, 9), after=st.integers(0, 9), limit=st.integers(1, 9))
    def read_session(self, session: int, after: int, limit: int) -> None:
        disk, ram = (list(journal.read_session(session, after, limit)) for journal in (self.disk, self.ram))
        assert disk == ram

    @rule(
        namespace=st.sampled_from("no"),
        user=users,
        session=st.sampled_from(["", "a", "b"]),
        after=st.integers(0, 40),
        limit=st.integers(1, 9),
    )
    def read_events(self, namespace: str, user: str, session: str, after: int, limit: int) -> None:
        """Pages end at different entries, so the events up to the end of the shorter page are compared."""
        scope = Scope(namespace, user, session)
        disk, ram = (journal.read_events(scope, after, limit) for journal in (self.disk, self.ram))
        end = min(disk.lsn, ram.lsn)
        assert [comparable_event(event) for event in disk.events if event.lsn <= end] == [
            comparable_event(event) for event in ram.events if event.lsn <= end
        ]

    @invariant()
    def events_agree(self) -> None:
        for namespace in "no":
            scope = Scope(namespace)
            disk, ram = (journal.read_events(scope, 0, 10_000) for journal in (self.disk, self.ram))
            assert list(map(comparable_event, disk.events)) == list(map(comparable_event, ram.events))
            assert (disk.lsn, disk.is_last) == (ram.lsn, ram.is_last)

    @invariant()
    def logs_agree(self) -> None:
        assert self.disk.log_end("n") == self.ram.log_end("n")
        assert self.disk.last_lsns() == self.ram.last_lsns()
        lsns = list(range(self.ram.log_end("n") + 2))
        assert self.disk.get_by_lsn("n", lsns) == self.ram.get_by_lsn("n", lsns)
        for namespace in "no":
            assert follow(self.disk, namespace) == follow(self.ram, namespace)

    @invariant()
    def usage_agrees(self) -> None:
        """The reference recounts each time; a sum over all reads is equal, too."""
        for namespace in "no":
            counted = recount(self.disk, namespace, OWNERS)
            assert self.disk.usage(namespace) == self.ram.usage(namespace) == counted

    @invariant()
    def documents_agree(self) -> None:
        versions = []
        for owner in OWNERS:
            disk, ram = (list(journal.documents(DocumentQuery(owner))) for journal in (self.disk, self.ram))
            assert disk == ram == [self.disk.document(owner, document.id) for document in ram]
            versions += [document.version for document in ram]
        chunk_keys = [(version, ordinal) for version in (*versions, 1, 2) for ordinal in range(4)]
        assert self.disk.find_chunks("n", chunk_keys) == self.ram.find_chunks("n", chunk_keys)

    @invariant()
    def dead_letters_agree(self) -> None:
        disk, ram = (
            [replace(letter, time_us=0) for letter in journal.dead_letters("task")] for journal in (self.disk, self.ram)
        )
        assert disk == ram

    @invariant()
    def heads_agree(self) -> None:
        for key in KEYS:
            disk, ram = self.disk.head(key), self.ram.head(key)
            assert comparable(disk) == comparable(ram)
            if disk and ram:
                # A lower bound is promised; the reference keeps the exact sequence.
                assert disk.window_start <= ram.window_start
        assert self.disk.default_policies().get("n") == self.ram.default_policies().get("n")
        assert self.disk.calibration("n", "m") == self.ram.calibration("n", "m")

    @invariant()
    def the_same_commands_are_activity(self) -> None:
        """The times differ; the sessions whose last activity has changed since the last step must not."""
        now_us = [
            {head.key: head.last_active_us for key in KEYS if (head := journal.head(key))}
            for journal in (self.disk, self.ram)
        ]
        disk, ram = (before.items() ^ now.items() for before, now in zip(self.active_us, now_us, strict=True))
        self.active_us = now_us
        assert {key for key, _ in disk} == {key for key, _ in ram}

    @invariant()
    def sessions_agree(self) -> None:
        disk, ram = (journal.sessions(SessionQuery("n")) for journal in (self.disk, self.ram))
        # Sessions of one group share their time on disk, so only the order of times is promised.
        assert sorted(head.key for head in disk) == sorted(head.key for head in ram)
        assert [head.last_active_us for head in disk] == sorted((head.last_active_us for head in disk), reverse=True)

    @invariant()
    def users_agree(self) -> None:
        for query in (
            UserQuery("n"),
            UserQuery("n", prefix="b"),
            UserQuery("n", limit=1),
            UserQuery("n", after_id="ann"),
        ):
            disk, ram = ([user[:2] for user in journal.users(query)] for journal in (self.disk, self.ram))
            assert disk == ram

    @invariant()
    def exchange_ends_agree(self) -> None:
        for key in KEYS:
            ends = [[journal.exchange_end(key, number) for number in range(6)] for journal in (self.disk, self.ram)]
            assert ends[0] == ends[1]

    @invariant()
    def replicas_agree_with_their_journals(self) -> None:
        for journal, replica in ((self.disk, self.replicas["disk"]), (self.ram, self.replicas["ram"])):
            for key in KEYS:
                assert sorted(replica.window(journal, key)) == list(journal.messages(key, MessageQuery()).messages)
                assert replica.heads.get(key) == journal.head(key)


TestDifferential = Differential.TestCase
TestDifferential.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
