"""The time at which a certificate expires, read without a library for certificates."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from memsidecar.access.certificates import expiry_time
from tests.tls.authority import Authority, Key, Validity, ec_key, rsa_key

YEARS = 365


@pytest.mark.parametrize("days", [1, 90, YEARS, 40 * YEARS], ids=str)
@pytest.mark.parametrize("new_key", [ec_key, rsa_key])
def test_the_expiry_is_that_of_the_first_certificate_of_the_file(days: int, new_key: Callable[[], Key]) -> None:
    # From 2050 on the time is encoded in another form.
    pair = Authority.new().intermediate("between").server(Validity(timedelta(0), timedelta(days=days)), new_key())
    assert len(pair.chain) > 1
    assert expiry_time(b"a comment\n" + pair.certificate_pem) == pair.chain[0].not_valid_after_utc.timestamp()


def test_the_expiry_of_a_file_with_another_label_is_not_known() -> None:
    pem = Authority.new().server().certificate_pem.replace(b"BEGIN CERT", b"BEGIN TRUSTED CERT")
    assert expiry_time(pem) is None
