"""Tokens that nobody can read or make, and that still turn the page."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsidecar.domain.errors import InvalidField
from memsidecar.layers.page_tokens import KEY_BYTES, EncryptedPageTokens

NUMBERS = st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=2)
PAGES = EncryptedPageTokens(bytes(range(KEY_BYTES)))


@given(NUMBERS, st.binary())
def test_a_token_leads_back_to_its_position(position: list[int], request: bytes) -> None:
    assert PAGES.decode(PAGES.encode(position, request), request, len(position)) == tuple(position)


@given(NUMBERS, st.binary(), st.data())
def test_no_byte_of_a_token_can_be_changed(position: list[int], request: bytes, data: st.DataObject) -> None:
    raw = bytearray(base64.urlsafe_b64decode(PAGES.encode(position, request) + "=="))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(InvalidField):
        PAGES.decode(base64.urlsafe_b64encode(raw).decode().rstrip("="), request, len(position))


@given(NUMBERS, st.binary(), st.binary())
def test_a_token_is_for_its_own_request(position: list[int], request: bytes, other: bytes) -> None:
    if request != other:
        with pytest.raises(InvalidField):
            PAGES.decode(PAGES.encode(position, request), other, len(position))


@given(NUMBERS)
def test_two_tokens_of_one_position_have_nothing_in_common(position: list[int]) -> None:
    """Else the difference of two would tell how much others did in between."""
    one, two = (base64.urlsafe_b64decode(PAGES.encode(position, b"same") + "==") for _ in range(2))
    hidden = 16
    assert one[:8] != two[:8]
    assert one[hidden:] != two[hidden:]


def test_a_token_of_another_key_is_refused() -> None:
    token = EncryptedPageTokens(bytes(KEY_BYTES)).encode([7], b"same")
    with pytest.raises(InvalidField):
        PAGES.decode(token, b"same", 1)


def test_no_token_is_the_first_page() -> None:
    assert PAGES.decode("", b"same", 2) is None
