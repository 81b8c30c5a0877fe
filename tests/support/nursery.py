"""The process that has loaded the sidecar's code and is forked whenever one is wanted; see `forked`."""

import gc
import json
import os
import socket
import sys
from contextlib import suppress
from importlib import import_module

from memsidecar.__main__ import main
from memsidecar.settings import quiet_native_logs

MOST_REQUEST_BYTES = 128 << 10


def serve(door: socket.socket) -> None:
    """Start what is asked for until nobody is at the door any more."""
    while True:
        request, descriptors, _, _ = socket.recv_fds(door, MOST_REQUEST_BYTES, 3)
        if not request:
            return
        if os.fork() == 0:
            door.close()
            supervise(request, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        bury()


def bury() -> None:
    """Let go of the supervisors that are done; how they ended says nothing."""
    with suppress(ChildProcessError):
        while os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG):
            pass


def supervise(request: bytes, stdout: int, stderr: int, status: int) -> None:
    """Tell who it is that was started, wait, and tell how it ended."""
    pid = os.fork()
    if pid == 0:
        os.close(status)
        become(request, stdout, stderr)
    os.close(stdout)
    os.close(stderr)
    os.write(status, b"%d\n" % pid)
    _, ended = os.waitpid(pid, 0)
    os.write(status, b"%d\n" % os.waitstatus_to_exitcode(ended))
    os._exit(0)


def become(request: bytes, stdout: int, stderr: int) -> None:
    """Run the command and end as an interpreter ends, with everything that happens then."""
    arguments, environ, directory = json.loads(request)
    for descriptor, standard in ((stdout, 1), (stderr, 2)):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = ["memsidecar", *arguments]
    sys.exit(main(arguments))


if __name__ == "__main__":
    quiet_native_logs()
    import_module("memsidecar.assembly")
    gc.freeze()  # what all of them share stays shared
    with socket.socket(fileno=int(sys.argv[1])) as entrance:
        serve(entrance)
