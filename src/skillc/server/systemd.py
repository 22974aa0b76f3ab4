"""Tell systemd how a service of it is: the protocol of sd_notify(3), for `Type=notify`."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

VARIABLE = "NOTIFY_SOCKET"


def notify_systemd(state: str) -> None:
    """Send a state such as `READY=1`; without systemd, do nothing."""
    address = os.environ.get(VARIABLE, "")
    if not address.startswith(("/", "@")) or not hasattr(socket, "AF_UNIX"):
        return
    name = f"\0{address[1:]}" if address.startswith("@") else address
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.connect(name)
        sender.sendall(state.encode())
