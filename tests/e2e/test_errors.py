"""Every error that the gateway makes itself: status, code, shape."""

import socket
import time

import pytest

from support.gateway import CHAT, chat_body
from support.http import Truncated, encode
from support.ports import free_port
from support.wait import until

MESSAGES = "/v1/messages"


def check(response, status, code, path=CHAT, param=None):
    """In the caller's API's shape, with its code in a header, an id, and no secret."""
    assert response.status == status, response
    assert response.get("x-smg-error-code") == code
    assert response.get("x-request-id")
    assert response.get("content-type").startswith("application/json")
    document = response.json()
    if path.startswith(MESSAGES):
        assert set(document) == {"type", "error"} and document["type"] == "error"
        assert set(document["error"]) == {"type", "message"}
    else:
        assert set(document) == {"error"}
        assert set(document["error"]) == {"message", "type", "param", "code"}
        assert document["error"]["code"] == code
        assert document["error"]["param"] == param
    assert document["error"]["message"] and document["error"]["type"]
    assert "127.0.0.1" not in document["error"]["message"]
    assert "x-smg-routed-worker-id" not in {n.lower() for n, _ in response.headers}


@pytest.fixture(params=[CHAT, MESSAGES], ids=["openai", "anthropic"])
def path(request):
    return request.param


@pytest.mark.parametrize("body", [
    b"", b"{", b"[]", b"null", b'"text"', b"1", b"nonsense", b'{"model":"m"} x', b"{'model':'m'}", b'{"a":01}',
    b'{"model":"m","x":"\xff"}', b'{"model":"m",}', b"\xef\xbb\xbf",
], ids=lambda b: repr(b)[2:-1][:20])
def test_body_that_is_not_a_json_object(gateway, worker, path, body):
    w = worker()
    g = gateway([w])
    check(g.post(path, body), 400, "invalid_json", path)
    assert not w.requests


@pytest.mark.parametrize("model", [b"1", b"[]", b"{}", b"true"])
def test_model_that_is_not_a_string(gateway, worker, path, model):
    g = gateway([worker()])
    check(g.post(path, b'{"messages":[],"model":' + model + b"}"), 400, "invalid_request", path, "model")


def test_unknown_model(gateway, worker, path):
    g = gateway([worker()])
    response = g.post(path, chat_body(model="nobody-serves-this"))
    check(response, 404, "model_not_found", path, "model")
    assert "nobody-serves-this" in response.json()["error"]["message"]


def test_model_name_is_escaped_in_the_message(gateway, worker):
    g = gateway([worker()])
    name = 'quote " backslash \\ newline \n é'
    assert name in g.chat(model=name).json()["error"]["message"]


def test_unknown_route(gateway):
    g = gateway()
    for method in ("GET", "POST", "DELETE", "PATCH"):
        check(g.request(method, "/nowhere"), 404, "route_not_found")
    check(g.get("/v1/messages/nowhere"), 404, "route_not_found", "/v1/messages/nowhere")


@pytest.mark.parametrize("method, target, allow", [
    ("GET", CHAT, {"POST"}), ("DELETE", "/v1/models", {"GET", "HEAD"}), ("POST", "/liveness", {"GET", "HEAD"}),
    ("PUT", "/workers", {"GET", "HEAD", "POST"}), ("POST", "/workers/x", {"GET", "HEAD", "PUT", "PATCH", "DELETE"}),
])
def test_wrong_method_names_the_right_ones(gateway, method, target, allow):
    g = gateway()
    response = g.request(method, target)
    check(response, 405, "method_not_allowed", target)
    assert {m.strip() for m in response.get("allow").split(",")} == allow


def test_body_over_the_limit_by_length(gateway, worker, path):
    g = gateway([worker()], "--max-payload-size", "1000")
    check(g.post(path, chat_body("x" * 2000)), 413, "request_body_too_large", path)
    body = chat_body("")
    size = 1000 - len(encode("POST", path, body=body).split(b"\r\n\r\n", 1)[1])
    assert g.post(path, chat_body("x" * size)).status == 200
    check(g.post(path, chat_body("x" * (size + 1))), 413, "request_body_too_large", path)


def test_body_over_the_limit_in_chunks(gateway, worker, path):
    g = gateway([worker()], "--max-payload-size", "1000")
    check(g.request("POST", path, chunks=[b"x" * 400] * 4), 413, "request_body_too_large", path)


@pytest.mark.parametrize("value", ["text/plain", "multipart/form-data; boundary=x", "application/xml", "json"])
def test_media_type_that_is_not_json(gateway, worker, path, value):
    g = gateway([worker()])
    check(g.post(path, chat_body(), headers={"Content-Type": value}), 415, "unsupported_media_type", path)


@pytest.mark.parametrize("value", ["application/json", "Application/JSON; charset=utf-8", "application/vnd.api+json",
                                   "application/json;charset=UTF-8"])
def test_media_types_that_are_json(gateway, worker, value):
    g = gateway([worker()])
    assert g.post(CHAT, chat_body(), headers={"Content-Type": value}).status == 200


def test_missing_media_type_is_taken_for_json(gateway, worker):
    g = gateway([worker()])
    with g.client() as client:
        body = b'{"model":"m","messages":[]}'
        client.send(b"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % (CHAT.encode(), len(body)) + body)
        assert client.read().status == 200


def test_encoded_request_bodies(gateway, worker, path):
    g = gateway([worker()])
    for encoding in ("gzip", "zstd", "br"):
        response = g.post(path, b"\x1f\x8b", headers={"Content-Encoding": encoding})
        check(response, 415, "unsupported_media_type", path)
        assert encoding in response.json()["error"]["message"]
    assert g.post(path, chat_body(), headers={"Content-Encoding": "identity"}).status == 200


def test_missing_or_wrong_key(gateway, worker, path):
    g = gateway([worker()], "--api-key", "secret-key")
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "secret-key"},
                    {"Authorization": "Basic secret-key"}, {"Authorization": "Bearer secret-key2"}):
        response = g.post(path, chat_body(), headers=headers)
        check(response, 401, "invalid_api_key", path)
        assert b"secret-key" not in response.body
    assert g.post(path, chat_body(), headers={"Authorization": "Bearer secret-key"}).status == 200


def test_no_worker_at_all(gateway, path):
    g = gateway()
    response = g.post(path, chat_body())
    check(response, 503, "no_available_workers", path)
    assert int(response.get("retry-after")) >= 1


def test_no_usable_worker(gateway, worker, path):
    w = worker()
    g = gateway([w], "--health-check-interval-secs", "1", "--health-failure-threshold", "1")
    w.healthy = False
    until(lambda: g.get("/readiness").status == 503, 10, "the worker's being unhealthy")
    response = g.post(path, chat_body())
    check(response, 503, "no_available_workers", path)
    assert int(response.get("retry-after")) >= 1


def test_worker_that_refuses_connections(gateway, worker, path):
    w = worker()
    g = gateway([w], "--retry-initial-backoff-ms", "1")
    w.stop()
    check(g.post(path, chat_body()), 502, "upstream_connect_failed", path)


def test_worker_that_closes_without_an_answer(gateway, worker, path):
    g = gateway([worker(lambda x: x.close())], "--retry-initial-backoff-ms", "1")
    check(g.post(path, chat_body()), 502, "upstream_closed", path)


def test_worker_that_closes_within_its_head(gateway, worker):
    def handler(x):
        x.send(b"HTTP/1.1 200 OK\r\nContent-Le")
        x.close()

    g = gateway([worker(handler)], "--disable-retries")
    check(g.chat(), 502, "upstream_closed")


@pytest.mark.parametrize("answer", [
    b"SSH-2.0-OpenSSH_9\r\n\r\n", b"HTTP/1.1 200 OK\nContent-Length: 0\n\n", b"HTTP/1.1 20 OK\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nab",
    b"HTTP/1.1 200 OK\r\nBad Name: x\r\nContent-Length: 0\r\n\r\n",
], ids=["not http", "bare LF", "status", "length and chunked", "two lengths", "bad name"])
def test_worker_that_does_not_speak_http(gateway, worker, answer):
    def handler(x):
        x.send(answer)
        x.gone(2)
        x.close()

    g = gateway([worker(handler)], "--disable-retries")
    check(g.chat(), 502, "upstream_bad_response")


def test_worker_that_never_answers(gateway, worker, path):
    w = worker(lambda x: x.gone(20))
    g = gateway([w], "--request-timeout-secs", "1", "--disable-retries")
    response = g.post(path, chat_body())
    check(response, 504, "upstream_timeout", path)
    assert 0.9 < response.seconds < 3


def test_worker_that_falls_silent_in_its_body_cuts_the_client(gateway, worker):
    def handler(x):
        x.begin()
        x.event("one")
        x.gone(20)

    g = gateway([worker(handler)], "--request-timeout-secs", "1")
    with g.client() as client:
        client.send(encode("POST", CHAT, body=chat_body(stream=True)))
        head = client.read_head()
        with pytest.raises(Truncated) as cut:
            list(client.pieces(head))
    assert cut.value.so_far == b'data: "one"\n\n'


def test_live_stream_may_last_longer_than_the_timeout(gateway, worker):
    def handler(x):
        x.begin()
        for i in range(12):
            x.event(str(i))
            time.sleep(0.25)
        x.end()

    g = gateway([worker(handler)], "--request-timeout-secs", "1")
    response = g.chat(stream=True)
    assert response.status == 200 and response.seconds > 2
    assert response.body.count(b"data:") == 12


def test_worker_address_that_does_not_answer(gateway):
    """A listener whose queue is full: connections are neither accepted nor refused."""
    full = socket.socket()
    full.bind(("127.0.0.1", free_port()))
    full.listen(0)
    fillers = []
    for _ in range(4):
        filler = socket.socket()
        filler.setblocking(False)
        filler.connect_ex(full.getsockname())
        fillers.append(filler)
    g = gateway([f"http://127.0.0.1:{full.getsockname()[1]}"], "--connect-timeout-secs", "1", "--disable-health-check",
                "--disable-retries", ready=False)
    response = g.post("/generate", {"text": "x"})
    for s in (full, *fillers):
        s.close()
    check(response, 502, "upstream_connect_failed")
    assert response.seconds < 4


def test_errors_of_a_worker_pass_unchanged(gateway, worker):
    body = b'{"detail":[{"loc":["body"],"msg":"field required"}]}'
    for status in (400, 401, 403, 404, 409, 422, 451, 501, 505, 599):
        g = gateway([worker(lambda x: x.respond(status, body))])
        response = g.chat()
        assert (response.status, response.body) == (status, body)
        assert response.get("x-smg-error-code") is None
        g.finish()


def test_last_retryable_answer_is_passed_verbatim(gateway, worker):
    counter = iter(range(1, 100))
    w = worker(lambda x: x.respond(503, {"attempt": next(counter)}, {"Retry-After": "7"}))
    g = gateway([w], "--retry-max-retries", "3", "--retry-initial-backoff-ms", "1")
    response = g.chat()
    assert (response.status, response.json(), response.get("retry-after")) == (503, {"attempt": 3}, "7")
    assert response.worker == w.url
    assert len(w.requests) == 3


def test_error_codes_of_a_worker_in_our_header_are_not_passed_as_ours(gateway, worker):
    g = gateway([worker(lambda x: x.respond(400, b"{}", {"x-smg-error-code": "forged"}))])
    assert g.chat().get("x-smg-error-code") is None
