"""Client certificates, and the rights of their callers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memsidecar.access.access_file import token_lines
from memsidecar.access.bearer_token import new_token
from memsidecar.access.policy import AccessRole
from tests.support.process import SidecarProcess
from tests.tls.authority import EXPIRED, NOT_YET, Authority, Pair
from tests.tls.server import TlsClient, tls_sidecar

SERVERS, CALLERS, OTHER = Authority.new("servers"), Authority.new("callers"), Authority.new("other")
SPIFFE = "spiffe://cluster.local/ns/billing/sa/agent"
DNS = "agent.research.example"
TOKEN = new_token()
ACCESS = f"""
[[certificates]]
name = "billing-agent"
uri = "{SPIFFE}"
namespaces = ["billing"]
role = "read"

[[certificates]]
name = "research-agent"
dns = "Agent.Research.Example"
namespaces = ["research"]
role = "read"

{token_lines(TOKEN, "auditor", ["audited"], AccessRole.READ, None)}
"""
BILLING = CALLERS.client(uri=SPIFFE)


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    folder = tmp_path_factory.mktemp("mutual")
    access = folder / "access.toml"
    access.write_text(ACCESS)
    with tls_sidecar(folder, SERVERS.server(), "--access-file", str(access), client_ca=CALLERS) as running:
        yield running


def caller(sidecar: SidecarProcess, shown: Pair | None, token: str = "") -> TlsClient:
    return TlsClient(sidecar.address, SERVERS.pem, shown, token)


def test_a_spiffe_id_has_access_to_its_namespace_only(sidecar: SidecarProcess) -> None:
    with caller(sidecar, BILLING) as client:
        assert client.count("billing") == 0
        assert client.is_refused("research") == "PERMISSION_DENIED"
        assert client.is_refused("") == "PERMISSION_DENIED"


def test_a_dns_name_is_case_insensitive(sidecar: SidecarProcess) -> None:
    with caller(sidecar, CALLERS.client(dns=DNS.upper())) as client:
        assert client.count("research") == 0
        assert client.is_refused("billing") == "PERMISSION_DENIED"


STRANGERS = {
    "another SPIFFE id": {"uri": f"{SPIFFE}2"},
    "a SPIFFE id in another case": {"uri": SPIFFE.replace("billing", "Billing")},
    "a subdomain": {"dns": f"x.{DNS}"},
    "the DNS name as a URI": {"uri": DNS},
    "the name as its subject": {"common_name": DNS},
    "no name": {},
}


@pytest.mark.parametrize("names", STRANGERS.values(), ids=STRANGERS)
def test_a_valid_certificate_of_an_unknown_caller_has_no_access(sidecar: SidecarProcess, names: dict[str, str]) -> None:
    with caller(sidecar, CALLERS.client(**names)) as client:  # type: ignore[arg-type]
        assert client.is_refused("billing") == "UNAUTHENTICATED"
        assert client.is_refused("research") == "UNAUTHENTICATED"


def test_a_token_takes_precedence_over_the_certificate(sidecar: SidecarProcess) -> None:
    with caller(sidecar, BILLING, TOKEN.text) as client:
        assert client.count("audited") == 0
        assert client.is_refused("billing") == "PERMISSION_DENIED"


def test_an_invalid_token_is_rejected_despite_a_valid_certificate(sidecar: SidecarProcess) -> None:
    with caller(sidecar, BILLING, f"{TOKEN.text}x") as client:
        assert client.is_refused("billing") == "UNAUTHENTICATED"


UNVERIFIED: dict[str, Pair | None] = {
    "none": None,
    "of another authority": OTHER.client(uri=SPIFFE),
    "of the servers' authority": SERVERS.client(uri=SPIFFE),
    "expired": CALLERS.client(uri=SPIFFE, validity=EXPIRED),
    "not yet valid": CALLERS.client(uri=SPIFFE, validity=NOT_YET),
}


@pytest.mark.parametrize("shown", UNVERIFIED.values(), ids=UNVERIFIED)
def test_a_connection_without_a_verified_certificate_is_rejected(sidecar: SidecarProcess, shown: Pair | None) -> None:
    """A valid token does not help: the connection fails before any request."""
    with caller(sidecar, shown, TOKEN.text) as client:
        assert client.is_refused("audited") == "UNAVAILABLE"


def test_a_chain_is_followed_to_the_authority(sidecar: SidecarProcess) -> None:
    with caller(sidecar, CALLERS.intermediate("issuer").client(uri=SPIFFE)) as client:
        assert client.count("billing") == 0


def test_without_an_access_file_a_verified_certificate_is_enough(tmp_path: Path) -> None:
    with tls_sidecar(tmp_path, SERVERS.server(), client_ca=CALLERS) as sidecar:
        with caller(sidecar, CALLERS.client(common_name="any")) as client:
            assert client.count("billing") == 0
        with caller(sidecar, None) as client:
            assert client.is_refused() == "UNAVAILABLE"
