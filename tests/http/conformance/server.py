"""A server for the conformance runner, which starts it: python -m tests.http.conformance.server PROTOS."""

import asyncio
import signal
import struct
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvloop

from memsidecar.access.certificates import CertificateFiles, read_certificates
from memsidecar.domain.network_address import Address
from memsidecar.http.application import Application
from memsidecar.http.browser_guard import BrowserGuard
from memsidecar.http.connect_codec import CodecLimits, Codecs
from memsidecar.http.listener import HttpListener, bound_socket
from memsidecar.http.tls_context import TlsContext
from tests.http.conformance.protos import load_protos, message_class
from tests.http.conformance.service import conformance_rpcs

_LENGTH = struct.Struct(">I")
DEFAULT_BYTES = 4 << 20


def read_request() -> Any:
    (length,) = _LENGTH.unpack(sys.stdin.buffer.read(_LENGTH.size))
    return message_class("ServerCompatRequest").FromString(sys.stdin.buffer.read(length))


def write_response(response: Any) -> None:
    data = response.SerializeToString()
    sys.stdout.buffer.write(_LENGTH.pack(len(data)) + data)
    sys.stdout.buffer.flush()


def tls_context(request: Any, folder: Path) -> TlsContext | None:
    if not request.use_tls:
        return None
    files = CertificateFiles(folder / "crt", folder / "key", folder / "ca" if request.client_tls_cert else None)
    contents = (request.server_creds.cert, request.server_creds.key, request.client_tls_cert)
    for file, content in zip(files.all, contents, strict=False):
        file.write_bytes(content)
    certificates = read_certificates(files)
    return TlsContext(lambda: certificates, files)


async def run(request: Any) -> None:
    codecs = Codecs(CodecLimits(request.message_receive_limit or DEFAULT_BYTES, 200_000))
    application = Application(conformance_rpcs(codecs), {}, BrowserGuard(frozenset(), checks_host=True))
    address = Address("127.0.0.1", 0)
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    with TemporaryDirectory() as folder, bound_socket(address) as bound:
        listener = HttpListener(application, bound, address, tls_context(request, Path(folder)))
        listener.start()
        creds = request.server_creds.cert if request.use_tls else b""
        host, port = listener.address.host, listener.address.port
        write_response(message_class("ServerCompatResponse")(host=host, port=port, pem_cert=creds))
        await stopping.wait()
        await listener.stop()
    codecs.close()


if __name__ == "__main__":
    load_protos(Path(sys.argv[1]))
    uvloop.run(run(read_request()))
