"""A counter of one's own that counts a marked text only when the test says so; the sidecar loads it by its name."""

import os
import socket

HANG_SECONDS = 300
MARK = "count me when you are told to"
ADDRESS_VARIABLE = "WAITING_COUNTER_SOCKET"


def count(text: str) -> int:
    if MARK in text:
        _wait_to_be_told()
    return len(text)


def _wait_to_be_told() -> None:
    with socket.socket(socket.AF_UNIX) as told:
        told.settimeout(HANG_SECONDS)
        told.connect(os.environ[ADDRESS_VARIABLE])
        told.recv(1)
