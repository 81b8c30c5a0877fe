"""Promises of a read: one snapshot, the requested order, at most the requested number."""

import pytest

from memsidecar.domain.message import Role
from memsidecar.domain.session import Policy, SessionKey
from memsidecar.stores.contract import Journal, MessageQuery, Scope, SessionQuery, SetPolicy
from tests.conformance.builders import (
    KEY,
    answer,
    append,
    call,
    content,
    contents,
    draft,
    erase,
    execute,
    forget,
    known_head,
    read,
    scored,
    shortened,
    update_message,
    update_window,
)


@pytest.fixture
def pruned(journal: Journal) -> Journal:
    """s1 u2 u3 s4 u5 u6 with u2, u3 and s4 pruned."""
    system = Role.SYSTEM
    append(journal, draft("s1", role=system), draft("u2"), draft("u3"), draft("s4", role=system))
    append(journal, draft("u5"), draft("u6"))
    update_window(journal, 2, 3, 4)
    return journal


def test_the_window_is_what_was_not_pruned(pruned: Journal) -> None:
    assert contents(pruned) == ["s1", "u5", "u6"]


def test_newest_first_reverses_the_order_only(pruned: Journal) -> None:
    assert contents(pruned, newest_first=True) == ["u6", "u5", "s1"]


def test_pruned_messages_are_read_in_sequence_on_request(pruned: Journal) -> None:
    assert contents(pruned, include_pruned=True) == ["s1", "u2", "u3", "s4", "u5", "u6"]
    assert [stored.pruned for stored in read(pruned, include_pruned=True)] == [False, True, True, True, False, False]
    assert contents(pruned, include_pruned=True, newest_first=True, limit=3) == ["u6", "u5", "s4"]


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_a_limit_returns_the_first_in_the_requested_order(pruned: Journal, limit: int) -> None:
    assert contents(pruned, limit=limit) == ["s1", "u5", "u6"][:limit]
    assert contents(pruned, limit=limit, newest_first=True) == ["u6", "u5", "s1"][:limit]


def test_before_and_after_are_exclusive(pruned: Journal) -> None:
    assert contents(pruned, after=1, before=6, include_pruned=True) == ["u2", "u3", "s4", "u5"]
    assert contents(pruned, after=1, before=6) == ["u5"]
    assert contents(pruned, after=6) == []
    assert contents(pruned, before=1) == []
    assert contents(pruned, before=0) == []


def test_a_role_selects_its_messages(pruned: Journal) -> None:
    assert contents(pruned, role=Role.SYSTEM) == ["s1"]
    assert contents(pruned, role=Role.SYSTEM, include_pruned=True) == ["s1", "s4"]
    assert contents(pruned, role=Role.USER, newest_first=True, limit=1) == ["u6"]
    assert contents(pruned, role=Role.TOOL) == []


def test_a_page_of_the_known_version_has_the_head_alone(pruned: Journal) -> None:
    page = pruned.messages(KEY, MessageQuery(unless_version=known_head(pruned).version))
    assert (page.head, len(page.messages), page.truncated) == (known_head(pruned), 0, False)


def test_a_page_of_a_later_version_has_the_messages(pruned: Journal) -> None:
    before = known_head(pruned).version
    update_message(pruned, "u5", scored(1))
    page = pruned.messages(KEY, MessageQuery(unless_version=before))
    assert [content(stored) for stored in page.messages] == ["s1", "u5", "u6"]
    assert page.head == known_head(pruned)
    assert contents(pruned, key=SessionKey("default", "none"), unless_version=0) == []


def test_a_page_of_the_known_version_has_the_policy_of_now(pruned: Journal) -> None:
    before, policy = known_head(pruned).version, Policy(auto_prune_tokens=5)
    execute(pruned, SetPolicy(KEY, "", policy))
    page = pruned.messages(KEY, MessageQuery(unless_version=before))
    assert page.head is not None and (page.head.policy, len(page.messages)) == (policy, 0)


def test_every_change_of_the_window_has_a_version_of_its_own(journal: Journal) -> None:
    versions = [append(journal, draft("u"), call("c", "x"), draft("v"), user_id="ann").head.version]
    for change in (
        lambda: append(journal, draft("w")),
        lambda: update_window(journal, 1, shortened=[shortened(read(journal)[2], "s", 2)]),
        lambda: update_message(journal, "v", scored(1)),
        lambda: update_window(journal, 2),
        lambda: append(journal, answer("a", "x")),
        lambda: forget(journal, "w"),
        lambda: erase(journal),
        lambda: append(journal, draft("again")),
    ):
        change()
        versions.append(known_head(journal).version)
    assert sorted(set(versions)) == versions


def test_a_page_ends_before_its_byte_limit(journal: Journal) -> None:
    append(journal, *(draft(f"{n}" * 100, message_id=str(n)) for n in range(5)))
    two = sum(len(stored.body) for stored in read(journal)[:2])
    page = journal.messages(KEY, MessageQuery(max_bytes=two))
    assert ([stored.sequence for stored in page.messages], page.truncated) == ([1, 2], True)
    page = journal.messages(KEY, MessageQuery(max_bytes=two - 1, newest_first=True))
    assert ([stored.sequence for stored in page.messages], page.truncated) == ([5], True)


def test_a_page_has_at_least_one_message_however_long(journal: Journal) -> None:
    append(journal, draft("x" * 5_000))
    page = journal.messages(KEY, MessageQuery(max_bytes=10))
    assert (len(page.messages), page.truncated) == (1, False)


def test_a_page_that_ends_at_its_limit_is_not_truncated(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"))
    assert not journal.messages(KEY, MessageQuery(limit=1)).truncated
    assert not journal.messages(KEY, MessageQuery()).truncated


def test_without_bodies_the_other_attributes_are_the_same(pruned: Journal) -> None:
    assert read(pruned, bodies=False, max_bytes=1) == [stored._replace(body=b"") for stored in read(pruned)]


def test_consecutive_pages_make_the_whole_session(journal: Journal) -> None:
    append(journal, *(draft(f"m{n}") for n in range(25)))
    pages, after = [], 0
    while page := read(journal, after=after, limit=10):
        pages += page
        after = page[-1].sequence
    assert pages == read(journal)


def test_a_page_has_the_head_of_its_snapshot(pruned: Journal) -> None:
    assert pruned.messages(KEY, MessageQuery(limit=1)).head == known_head(pruned)


def test_a_scan_is_newest_first_with_pruned_messages(pruned: Journal) -> None:
    found = pruned.scan(Scope("default"), None, 100)
    assert [content(message.message) for message in found] == ["u6", "u5", "s4", "u3", "u2", "s1"]
    assert [message.key for message in found] == [KEY] * 6


def test_a_scan_continues_below_the_last_lsn(pruned: Journal) -> None:
    first = pruned.scan(Scope("default"), None, 2)
    rest = pruned.scan(Scope("default"), first[-1].lsn, 100)
    assert [content(message.message) for message in rest] == ["s4", "u3", "u2", "s1"]


def test_a_scan_is_narrowed_by_user_and_session(journal: Journal) -> None:
    for place, (namespace, user, session) in enumerate(
        [("a", "u", "s"), ("a", "u", "t"), ("a", "v", "w"), ("b", "u", "s")]
    ):
        append(journal, draft(f"m{place}"), key=SessionKey(namespace, session), user_id=user)

    def found(scope: Scope) -> list[str]:
        return [content(located.message) for located in journal.scan(scope, None, 100)]

    assert found(Scope("a")) == ["m2", "m1", "m0"]
    assert found(Scope("a", "u")) == ["m1", "m0"]
    assert found(Scope("a", "", "t")) == ["m1"]
    assert found(Scope("a", "v", "t")) == []
    assert found(Scope("c")) == []


def test_sessions_are_listed_by_newest_activity(journal: Journal) -> None:
    for name in ("a", "b", "c", "a"):
        append(journal, draft(f"m{known_count(journal, name)}"), key=SessionKey("n", name), user_id="ann")
    append(journal, draft("m"), key=SessionKey("other", "d"))
    assert [head.key.session_id for head in journal.sessions(SessionQuery("n"))] == ["a", "c", "b"]


def known_count(journal: Journal, name: str) -> int:
    head = journal.head(SessionKey("n", name))
    return head.last_sequence if head else 0


def test_pages_of_sessions_make_the_whole_list(journal: Journal) -> None:
    for number in range(7):
        append(journal, draft("m"), key=SessionKey("n", f"s{number}"))
    listed, after = [], None
    while page := journal.sessions(SessionQuery("n", limit=3, after=after)):
        listed += [head.key.session_id for head in page]
        after = (page[-1].last_active_us, page[-1].key.session_id)
    assert listed == [f"s{number}" for number in reversed(range(7))]


def test_sessions_can_be_listed_by_user(journal: Journal) -> None:
    append(journal, draft("m"), key=SessionKey("n", "a"), user_id="ann")
    append(journal, draft("m"), key=SessionKey("n", "b"), user_id="bob")
    assert [head.user_id for head in journal.sessions(SessionQuery("n", user_id="bob"))] == ["bob"]


def test_a_listed_session_is_its_head(journal: Journal) -> None:
    append(journal, draft("m"), call("c", "x"), user_id="ann")
    assert journal.sessions(SessionQuery("default")) == [known_head(journal)]


def test_a_deleted_session_is_not_listed(journal: Journal) -> None:
    append(journal, draft("m"))
    erase(journal, delete_session=True)
    assert journal.sessions(SessionQuery("default")) == []


def test_a_message_is_found_by_its_id_as_original_and_as_displayed(journal: Journal) -> None:
    append(journal, draft("short"), draft("long", tokens=90), user_id="ann")
    plain = journal.message(KEY, "short")
    assert plain is not None and plain.original == plain.displayed == read(journal)[0]
    update_window(journal, shortened=[shortened(read(journal)[1], "l", 2)])
    update_message(journal, "long", scored(4))
    found = journal.message(KEY, "long")
    assert found is not None and found.head == known_head(journal)
    assert (content(found.original), found.original.tokens, found.original.score) == ("long", 90, 4)
    assert found.displayed == read(journal)[1]


def test_a_pruned_message_is_found_by_its_id(pruned: Journal) -> None:
    found = pruned.message(KEY, "u2")
    assert found is not None and found.original.pruned and found.displayed.pruned


def test_a_message_of_another_session_or_an_erased_one_is_not_found(journal: Journal) -> None:
    append(journal, draft("m"))
    assert journal.message(KEY, "n") is None
    assert journal.message(SessionKey("default", "s2"), "m") is None
    assert journal.message(SessionKey("other", "s1"), "m") is None
    erase(journal)
    assert journal.message(KEY, "m") is None
