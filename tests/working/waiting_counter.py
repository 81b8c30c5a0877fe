"""A custom counter that waits for its release at a marked text; the sidecar loads it by name."""

import os
import socket

HANG_SECONDS = 300
MARK = "count this text on release"
ADDRESS_VARIABLE = "WAITING_COUNTER_SOCKET"


def count(text: str) -> int:
    if MARK in text:
        _wait_for_release()
    return len(text)


def _wait_for_release() -> None:
    with socket.socket(socket.AF_UNIX) as release:
        release.settimeout(HANG_SECONDS)
        release.connect(os.environ[ADDRESS_VARIABLE])
        release.recv(1)
