"""A plain HTTP/1.1 client on a socket: sends what it is told, keeps every byte it gets."""

import json
import socket
import time


class Truncated(Exception):
    """The connection ended before the message did. `so_far` is the body up to there."""

    def __init__(self, so_far: bytes, reset: bool):
        super().__init__(f"ended after {len(so_far)} body bytes{' by a reset' if reset else ''}")
        self.so_far = so_far
        self.reset = reset


class Response:
    def __init__(self, status, reason, version, headers):
        self.status, self.reason, self.version = status, reason, version
        self.headers = headers  # list of (name, value), in order
        self.body = b""
        self.seconds = 0.0

    def all(self, name):
        return [v for n, v in self.headers if n.lower() == name.lower()]

    def get(self, name, default=None):
        values = self.all(name)
        return values[0] if values else default

    @property
    def worker(self):
        return self.get("x-smg-routed-worker-id")

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body[:300]!r}>"


def parse_head(head: bytes):
    lines = head.decode("latin-1").split("\r\n")
    return lines[0], [tuple(p.strip() for p in line.split(":", 1)) for line in lines[1:] if line]


def encode(method, target, headers=(), body=None, host="gateway.test", chunks=None):
    """A request. `headers`: dict or list of pairs; a body gets a length, `chunks` are sent chunked."""
    pairs = list(headers.items() if isinstance(headers, dict) else headers)
    names = {n.lower() for n, _ in pairs}
    if "host" not in names:
        pairs.insert(0, ("Host", host))
    if isinstance(body, (dict, list)):
        body = json.dumps(body).encode()
    if isinstance(body, str):
        body = body.encode()
    if (body is not None or chunks is not None) and "content-type" not in names:
        pairs.append(("Content-Type", "application/json"))
    if chunks is not None:
        pairs.append(("Transfer-Encoding", "chunked"))
        body = b"".join(b"%x\r\n%s\r\n" % (len(c), c) for c in chunks) + b"0\r\n\r\n"
    elif body is not None and "content-length" not in names:
        pairs.append(("Content-Length", str(len(body))))
    head = f"{method} {target} HTTP/1.1\r\n" + "".join(f"{n}: {v}\r\n" for n, v in pairs) + "\r\n"
    return head.encode("latin-1") + (body or b"")


class Client:
    """One connection."""

    def __init__(self, port, host="127.0.0.1", timeout=20.0):
        self.socket = socket.create_connection((host, port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.socket.close()

    def send(self, data: bytes):
        self.socket.sendall(data)

    def request(self, method, target, **kwargs):
        started = time.monotonic()
        self.send(encode(method, target, **kwargs))
        response = self.read(method == "HEAD")
        response.seconds = time.monotonic() - started
        return response

    def more(self) -> bool:
        """Reads what is there into the buffer; false at the end of the connection."""
        data = self.socket.recv(1 << 18)
        self.buffer += data
        return bool(data)

    def read_until(self, mark: bytes) -> bytes:
        """Everything up to and with `mark`."""
        start = 0
        while (at := self.buffer.find(mark, start)) < 0:
            start = max(0, len(self.buffer) - len(mark))
            if not self.more():
                raise Truncated(self.buffer, False)
        at += len(mark)
        taken, self.buffer = self.buffer[:at], self.buffer[at:]
        return taken

    def take(self, count: int) -> bytes:
        parts, missing = [], count
        while missing:
            if not self.buffer and not self.more():
                raise Truncated(b"".join(parts), False)
            part = self.buffer[:missing]
            self.buffer = self.buffer[len(part):]
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def read_head(self) -> Response:
        line, headers = parse_head(self.read_until(b"\r\n\r\n")[:-4])
        version, status, reason = (line.split(" ", 2) + [""])[:3]
        return Response(int(status), reason, version, headers)

    def read(self, head_request=False) -> Response:
        """The next final response, whole. 1xx answers are skipped."""
        started = time.monotonic()
        response = self.read_head()
        while 100 <= response.status < 200:
            response = self.read_head()
        if not head_request and response.status not in (204, 304):
            response.body = b"".join(self.pieces(response))
        response.seconds = time.monotonic() - started
        return response

    def pieces(self, response):
        """The body's pieces: chunks, or reads."""
        got = b""
        try:
            if "chunked" in (response.get("transfer-encoding") or "").lower():
                while size := int(self.read_until(b"\r\n").split(b";")[0], 16):
                    piece = self.take(size)
                    assert self.take(2) == b"\r\n"
                    got += piece if len(got) < 1 << 16 else b""
                    yield piece
                while self.read_until(b"\r\n") != b"\r\n":
                    pass
            elif response.get("content-length") is not None:
                left = int(response.get("content-length"))
                while left:
                    if not self.buffer and not self.more():
                        raise Truncated(got, False)
                    piece, self.buffer = self.buffer[:left], self.buffer[left:]
                    left -= len(piece)
                    got += piece if len(got) < 1 << 16 else b""
                    yield piece
            else:
                while self.buffer or self.more():
                    piece, self.buffer = self.buffer, b""
                    yield piece
        except ConnectionResetError:
            raise Truncated(got, True) from None
        except Truncated as cut:
            raise Truncated(got, cut.reset) from None

    def ended(self, seconds=5.0) -> bool:
        """Whether the other side closes the connection within that time, sending nothing more."""
        self.socket.settimeout(seconds)
        try:
            return not self.buffer and self.socket.recv(1) == b""
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False


def fetch(port, method, target, **kwargs) -> Response:
    with Client(port) as client:
        return client.request(method, target, **kwargs)
