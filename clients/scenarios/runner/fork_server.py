"""Fork server: a process that has loaded the sidecar's code and forks a child for each sidecar.

Loading the code takes about a second of CPU, a fork takes milliseconds. A fork is safe, because the process is
single-threaded and makes no gRPC call.
"""

import gc
import json
import os
import signal
import socket
import sys
from importlib import import_module

from memsidecar.__main__ import main
from memsidecar.settings import quiet_native_logs
from runner.broken_rpc import break_rpc

MAX_REQUEST_BYTES = 1 << 16


def serve(connection: socket.socket) -> None:
    """Fork a supervisor for each request until the runner closes the connection."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the supervisors
    while True:
        request, descriptors, _, _ = socket.recv_fds(connection, MAX_REQUEST_BYTES, 3)
        if not request:
            return
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            connection.close()
            supervise(request, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def supervise(request: bytes, stdout: int, stderr: int, status: int) -> None:
    """Fork the sidecar, report its process id, and exit with it, which closes the status pipe."""
    pid = os.fork()
    if pid == 0:
        os.close(status)
        run_sidecar(request, stdout, stderr)
    os.close(stdout)
    os.close(stderr)
    os.write(status, b"%d\n" % pid)
    os.waitpid(pid, 0)
    os._exit(0)


def run_sidecar(request: bytes, stdout: int, stderr: int) -> None:
    """Run the command and exit as an interpreter does."""
    arguments, broken, folder = json.loads(request)
    for descriptor, standard in ((stdout, 1), (stderr, 2)):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    os.chdir(folder)
    if broken:
        break_rpc(broken)
    sys.argv = ["memsidecar", *arguments]
    sys.exit(main(arguments))


if __name__ == "__main__":
    quiet_native_logs()
    import_module("memsidecar.assembly")
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as inherited:
        serve(inherited)
