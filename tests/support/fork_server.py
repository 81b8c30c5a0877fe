"""A process that has loaded the code of the sidecar, and forks a child for each command; see `forked`."""

import atexit
import gc
import json
import os
import socket
import sys
import threading
from contextlib import suppress
from importlib import import_module

from memsidecar.__main__ import main
from memsidecar.embedding import static
from memsidecar.settings import quiet_native_logs
from memsidecar.stores.lance.process_memory import defer_rest_client
from memsidecar.tokens import tiktoken_counter
from tests.support.cached_models import cache_models

MAX_REQUEST_BYTES = 128 << 10


def preload() -> None:
    """Load what most children need and what is equal in all of them.

    These are the modules of the sidecar, of the rules and of `check`, the default vocabulary, and the bundled embedding
    model.
    """
    for module in ("memsidecar.assembly", "memsidecar.language.rules.extractor", "memsidecar.cli.check"):
        import_module(module)
    cache_models()
    tiktoken_counter.TiktokenCounter("o200k_base").warm()
    static.BundledModel().loaded()


def serve(requests: socket.socket) -> None:
    """Start a supervisor for each request, until the other end of the socket is closed."""
    while True:
        request, descriptors, _, _ = socket.recv_fds(requests, MAX_REQUEST_BYTES, 3)
        if not request:
            return
        if b"lancedb" in request:
            defer_rest_client()
            import_module("lance_namespace")  # most of LanceDB's loading time; LanceDB itself starts a thread
        if os.fork() == 0:
            requests.close()
            supervise(request, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        reap()


def reap() -> None:
    """Collect the supervisors that have ended; their exit status is not used."""
    with suppress(ChildProcessError):
        while os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG):
            pass


def supervise(request: bytes, stdout: int, stderr: int, status: int) -> None:
    """Fork the command, report its process id, wait for it, and report its exit code."""
    pid = os.fork()
    if pid == 0:
        os.close(status)
        run_command(request, stdout, stderr)
    os.close(stdout)
    os.close(stderr)
    os.write(status, b"%d\n" % pid)
    _, ended = os.waitpid(pid, 0)
    os.write(status, b"%d\n" % os.waitstatus_to_exitcode(ended))
    os._exit(0)


def run_command(request: bytes, stdout: int, stderr: int) -> None:
    """Run the command, and end as an interpreter ends, except that loaded objects are not freed one by one.

    Most of them are the vocabulary. To free it takes ten times as long as to refuse a start.
    """
    arguments, environ, directory = json.loads(request)
    for descriptor, standard in ((stdout, 1), (stderr, 2)):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = ["memsidecar", *arguments]
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = int(ended.code or 0)
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as an interpreter does
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    quiet_native_logs()
    preload()
    gc.freeze()  # keeps the pages of loaded objects shared with the children
    with socket.socket(fileno=int(sys.argv[1])) as served:
        serve(served)
