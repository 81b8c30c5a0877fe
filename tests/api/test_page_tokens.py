"""Page tokens decode to their cursor; clients can neither read nor forge them."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsidecar.api.page_tokens import KEY_BYTES, PageTokens
from memsidecar.domain.errors import InvalidField
from memsidecar.domain.ids import MAX_ID_BYTES
from memsidecar.v1.memory_pb2 import GetAllRequest, SearchRequest
from memsidecar.v1.session_pb2 import ListSessionsRequest

TOKENS = PageTokens(bytes(range(KEY_BYTES)))
REQUEST = SearchRequest(namespace="a", query="heron")
INTEGERS = st.integers(-(2**63), 2**63 - 1)
CURSORS = st.lists(INTEGERS | st.floats(allow_nan=False) | st.text(), min_size=1, max_size=3)


def decode(request: SearchRequest, token: str, *types: type) -> tuple[object, ...] | None:
    copy = SearchRequest()
    copy.CopyFrom(request)
    copy.page_token = token
    return TOKENS.decode(copy, *types)


@given(CURSORS)
def test_a_token_decodes_to_its_cursor(cursor: list[int | float | str]) -> None:
    token = TOKENS.encode(REQUEST, cursor)
    assert decode(REQUEST, token, *map(type, cursor)) == tuple(cursor)


@given(INTEGERS, st.data())
def test_no_byte_of_a_token_can_be_changed(lsn: int, data: st.DataObject) -> None:
    raw = bytearray(base64.urlsafe_b64decode(TOKENS.encode(REQUEST, [lsn]) + "=="))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(InvalidField):
        decode(REQUEST, base64.urlsafe_b64encode(raw).decode().rstrip("="), int)


@given(st.integers(0, 40))
def test_a_truncated_token_is_invalid(length: int) -> None:
    token = TOKENS.encode(REQUEST, [7, "an id"])
    with pytest.raises(InvalidField):
        decode(REQUEST, token[: min(length, len(token) - 1)] or "A", int, str)


def test_a_token_is_valid_for_its_own_request_only() -> None:
    token = TOKENS.encode(REQUEST, [7])
    for other in (
        SearchRequest(namespace="a", query="owl"),
        SearchRequest(namespace="b", query="heron"),
        SearchRequest(namespace="a", query="heron", session_id="s"),
    ):
        with pytest.raises(InvalidField):
            decode(other, token, int)


def test_the_page_size_may_change() -> None:
    token = TOKENS.encode(SearchRequest(query="heron", limit=3, page_token="of the page before"), [7])
    assert decode(SearchRequest(query="heron", limit=5, namespace="default"), token, int) == (7,)


def test_a_token_of_another_rpc_is_invalid() -> None:
    """Both requests have the same bytes."""
    token = TOKENS.encode(GetAllRequest(namespace="a", user_id="b"), [7])
    with pytest.raises(InvalidField):
        TOKENS.decode(ListSessionsRequest(namespace="a", user_id="b", page_token=token), int)


def test_a_token_with_another_cursor_layout_is_invalid() -> None:
    token = TOKENS.encode(REQUEST, [7, 8])
    for types in ((int,), (int, float), (int, int, int), (str,)):
        with pytest.raises(InvalidField):
            decode(REQUEST, token, *types)


@given(INTEGERS, INTEGERS)
def test_the_length_of_a_token_does_not_depend_on_its_numbers(one: int, other: int) -> None:
    assert len(TOKENS.encode(REQUEST, [one])) == len(TOKENS.encode(REQUEST, [other]))


def test_two_tokens_of_one_cursor_have_nothing_in_common() -> None:
    """Otherwise the difference of two would tell how much others wrote in between."""
    one, other = (base64.urlsafe_b64decode(TOKENS.encode(REQUEST, [1, 2]) + "==") for _ in range(2))
    nonce, encrypted = slice(0, 8), slice(18, None)
    assert one[nonce] != other[nonce]
    assert one[encrypted] != other[encrypted]


def test_a_token_of_another_key_is_invalid() -> None:
    with pytest.raises(InvalidField):
        decode(REQUEST, PageTokens(bytes(KEY_BYTES)).encode(REQUEST, [7]), int)


def test_the_longest_id_fits_and_a_longer_token_is_invalid() -> None:
    longest_id = "\N{SNOWMAN}" * (MAX_ID_BYTES // 3)
    token = TOKENS.encode(REQUEST, [1.0, 2, longest_id])
    assert decode(REQUEST, token, float, int, str) == (1.0, 2, longest_id)
    with pytest.raises(InvalidField):
        decode(REQUEST, token + "A" * 4_000_000, float, int, str)


def test_an_empty_token_is_the_first_page() -> None:
    assert decode(REQUEST, "", int) is None
    assert TOKENS.encode(REQUEST, None) == ""
