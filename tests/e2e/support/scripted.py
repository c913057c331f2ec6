"""A worker that does exactly what a test tells it, down to single bytes and resets."""

import json
import socket
import threading

from .http import parse_head
from .ports import free_port
from .wait import until

_LINGER_RESET = b"\1\0\0\0\0\0\0\0"


class Exchange:
    """One request as it came, and the means to answer it."""

    def __init__(self, worker, connection, raw_head):
        self.worker = worker
        self.connection = connection
        self.raw_head = raw_head
        line, self.headers = parse_head(raw_head[:-4])
        self.method, self.target, self.version = line.split(" ")
        self.path = self.target.split("?")[0]
        self.body = b""
        self.keep_alive = True

    def all(self, name):
        return [v for n, v in self.headers if n.lower() == name.lower()]

    def get(self, name, default=None):
        values = self.all(name)
        return values[0] if values else default

    def json(self):
        return json.loads(self.body)

    @property
    def text(self):
        """The last message's content."""
        return self.json()["messages"][-1]["content"]

    # Answers.
    def send(self, data: bytes):
        self.connection.sendall(data)

    def respond(self, status=200, body=b"", headers=(), content_type="application/json"):
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        pairs = list(headers.items() if isinstance(headers, dict) else headers)
        if content_type:
            pairs.append(("Content-Type", content_type))
        pairs.append(("Content-Length", str(len(body))))
        head = f"HTTP/1.1 {status} Status\r\n" + "".join(f"{n}: {v}\r\n" for n, v in pairs) + "\r\n"
        self.send(head.encode("latin-1") + (b"" if self.method == "HEAD" else body))

    def begin(self, status=200, headers=(), content_type="text/event-stream"):
        pairs = [*headers, ("Content-Type", content_type), ("Transfer-Encoding", "chunked")]
        head = f"HTTP/1.1 {status} OK\r\n" + "".join(f"{n}: {v}\r\n" for n, v in pairs) + "\r\n"
        self.send(head.encode("latin-1"))

    def chunk(self, data: bytes):
        self.send(b"%x\r\n%s\r\n" % (len(data), data))

    def event(self, text):
        self.chunk(b"data: " + (text if isinstance(text, bytes) else json.dumps(text).encode()) + b"\n\n")

    def end(self):
        self.send(b"0\r\n\r\n")

    def close(self):
        """FIN: the connection ends here."""
        self.keep_alive = False

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_RESET)
        self.connection.close()
        self.keep_alive = False

    def gone(self, seconds=10.0) -> bool:
        """Whether the gateway ends this connection within that time."""
        self.connection.settimeout(seconds)
        try:
            return self.connection.recv(1) == b""
        except ConnectionResetError:
            return True
        except (TimeoutError, OSError):
            return False


def answer_chat(x: Exchange):
    """The default: a small chat completion, streamed if asked for."""
    body = x.json() if x.body else {}
    if isinstance(body, dict) and body.get("stream") is True:
        x.begin()
        x.event({"choices": [{"delta": {"content": "hello"}}]})
        x.event(b"[DONE]")
        x.end()
    else:
        x.respond(200, {"object": "chat.completion", "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}]})


# What a gateway asks of an engine by itself.
_QUESTIONS = {"/v1/loads", "/loads", "/get_load", "/metrics", "/version", "/server_info", "/model_info",
              "/get_server_info", "/get_model_info"}


class ScriptedWorker:
    """Listens on 127.0.0.1. GET /health and /v1/models are answered here, and other questions about the
    engine with 404; every other request is recorded in `requests` and given to `handler(exchange)`."""

    def __init__(self, handler=answer_chat, model="m", host="127.0.0.1", port=None,
                 owner="scripted"):
        self.handler = handler
        self.model = model
        self.owner = owner  # what /v1/models names as owned_by
        self.host = host
        self.port = port or free_port()
        self.healthy = True
        self.probes_hang = False
        self.answers_questions = False  # True: the handler does
        self.loads = None  # the document of GET /v1/loads, None: 404
        self.requests = []  # complete ones
        self.incomplete = []  # bytes of those that ended early
        self.probes = []
        self.connections = 0
        self._lock = threading.Lock()
        self._open = set()
        self._listener = None
        self.start()

    @property
    def url(self):
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    def start(self):
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        until(lambda: listener.bind((self.host, self.port)) is None, 10, "the worker's port")
        listener.listen(512)
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def stop(self):
        """Stops listening and resets all connections, as a killed process does."""
        listener, self._listener = self._listener, None
        if listener is None:
            return
        try:
            listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        listener.close()
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            try:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_RESET)
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def bodies(self):
        return [x.body for x in self.requests]

    def _accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self.connections += 1
                self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            buffer = b""
            while True:
                exchange, buffer = self._read(connection, buffer)
                if exchange is None:
                    return
                self._answer(exchange)
                if not exchange.keep_alive:
                    return
        except OSError:
            pass
        finally:
            with self._lock:
                self._open.discard(connection)
            try:
                connection.close()
            except OSError:
                pass

    def _answer(self, x):
        if x.method == "GET" and x.path == "/health":
            self.probes.append(x)
            if self.probes_hang:
                x.gone(60)
                x.close()
            else:
                x.respond(200 if self.healthy else 503, b"")
        elif x.method == "GET" and x.path == "/v1/models":
            self.probes.append(x)
            x.respond(200, {"object": "list", "data": [{"id": self.model, "object": "model", "owned_by": self.owner}]})
        elif x.method == "GET" and x.path == "/v1/loads" and self.loads is not None:
            self.probes.append(x)
            x.respond(200, self.loads)
        elif x.method == "GET" and x.path in _QUESTIONS and not self.answers_questions:
            self.probes.append(x)
            x.respond(404, {"detail": "Not Found"})
        else:
            self.requests.append(x)
            self.handler(x)

    def _read(self, connection, buffer):
        def more():
            data = connection.recv(1 << 18)
            if not data:
                if buffer:
                    self.incomplete.append(bytes(buffer))
                return b""
            return data

        buffer = bytearray(buffer)
        while (at := buffer.find(b"\r\n\r\n")) < 0:
            data = more()
            if not data:
                return None, b""
            buffer += data
        x = Exchange(self, connection, bytes(buffer[: at + 4]))
        x.raw = buffer
        start = at + 4
        if (length := x.get("content-length")) is not None:
            end = start + int(length)
            while len(buffer) < end:
                data = more()
                if not data:
                    return None, b""
                buffer += data
            x.body = bytes(buffer[start:end])
        elif "chunked" in (x.get("transfer-encoding") or ""):
            body, end = bytearray(), start
            while True:
                while (line := buffer.find(b"\r\n", end)) < 0:
                    data = more()
                    if not data:
                        return None, b""
                    buffer += data
                size = int(buffer[end:line].split(b";")[0], 16)
                end = line + 2 + size + 2
                while len(buffer) < end:
                    data = more()
                    if not data:
                        return None, b""
                    buffer += data
                body += buffer[line + 2: line + 2 + size]
                if size == 0:
                    break
            x.body = bytes(body)
        else:
            end = start
        rest = bytes(buffer[end:])
        x.raw = None
        return x, rest
