"""Free TCP ports below the range of outgoing connections, different for each parallel test run."""

import itertools
import os
import random
import socket

_LOW, _HIGH = 20000, 32000
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
_share = (_HIGH - _LOW) // 8
_start = random.randrange(_share)
_counter = itertools.count(_start)


def free_port() -> int:
    while True:
        port = _LOW + (_worker % 8) * _share + next(_counter) % _share
        with socket.socket() as s4, socket.socket(socket.AF_INET6) as s6:
            try:
                s4.bind(("127.0.0.1", port))
                s6.bind(("::1", port))
                return port
            except OSError:
                continue
