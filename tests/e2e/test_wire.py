"""What passes through the gateway, byte for byte, and how it keeps to HTTP/1.1."""

import json
import threading
import time

import pytest

from support.gateway import CHAT, chat_body
from support.http import Truncated, encode
from support.scripted import answer_chat
from support.wait import until

ENDPOINTS = {
    CHAT: chat_body(),
    "/v1/completions": {"model": "m", "prompt": "x"},
    "/generate": {"model": "m", "text": "x"},
    "/v1/embeddings": {"model": "m", "input": "x"},
    "/v1/messages": chat_body(max_tokens=5),
    "/v1/messages/count_tokens": chat_body(),
    "/v1/responses": {"model": "m", "input": "x"},
    "/v1/rerank": {"model": "m", "query": "x", "documents": ["y"]},
    "/rerank": {"model": "m", "query": "x", "documents": ["y"]},
    "/v1/classify": {"model": "m", "input": "x"},
    "/v1/score": {"model": "m", "text_1": "x", "text_2": "y"},
    "/score": {"model": "m", "text_1": "x", "text_2": "y"},
    "/tokenize": {"model": "m", "prompt": "x"},
    "/detokenize": {"model": "m", "tokens": [1, 2]},
}


# Request bodies.


@pytest.mark.parametrize("path", ENDPOINTS)
def test_each_endpoint_is_forwarded_to_its_own_path(gateway, worker, path):
    w = worker(lambda x: x.respond(200, b'{"mine": true}'))
    g = gateway([w])
    response = g.post(path + "?a=b&c=%20", ENDPOINTS[path])
    assert (response.status, response.body) == (200, b'{"mine": true}')
    x = w.requests[0]
    assert (x.method, x.target, x.version) == ("POST", path + "?a=b&c=%20", "HTTP/1.1")
    assert x.json() == ENDPOINTS[path]


@pytest.mark.parametrize("body", [
    b'{"model":"m","messages":[],"unknown":{"a":[1,2,{"b":null}]},"seed":12345678901234567890123,"t":0.10000000000000001}',
    b' {\n\t"messages" : [ {"role":"user","content":"\\u00e9 \\ud83d\\ude00 \\n"} ] , "model":"m" }\r\n ',
    '{"model":"m","messages":[{"role":"user","content":"é世😀"}],"temperature":1e0,"x":-0.0}'.encode(),
    b'{"model":"m","messages":[{"role":"user","content":"\\ud800 lone"}]}',
    b'{"mod\\u0065l":"m","messages":[]}',
], ids=["unknown fields and numbers", "white space", "utf-8", "lone surrogate", "escaped key"])
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_body_bytes_are_untouched(gateway, worker, body, framing):
    w = worker(lambda x: x.respond(200, b"{}"))
    g = gateway([w], policy="cache_aware")
    if framing == "length":
        response = g.post(CHAT, body)
    else:
        response = g.request("POST", CHAT, chunks=[body[i:i + 7] for i in range(0, len(body), 7)])
    assert response.status == 200
    assert w.requests[0].body == body


def test_body_sent_byte_by_byte_is_whole_at_the_worker(gateway, worker):
    w = worker()
    g = gateway([w])
    data = encode("POST", CHAT, body=chat_body("dribble"))
    with g.client() as client:
        for i in range(len(data)):
            client.send(data[i:i + 1])
        assert client.read().status == 200
    assert w.requests[0].text == "dribble"


# Headers.


def test_end_to_end_request_headers_pass_in_order_and_repeated(gateway, worker):
    w = worker()
    g = gateway([w])
    sent = [("X-First", "1"), ("Cookie", "a=1"), ("X-Many", "one"), ("Accept", "text/event-stream"),
            ("X-Many", "two"), ("User-Agent", "test/1"), ("traceparent", "00-abc-def-01"), ("tracestate", "k=v"),
            ("X-Empty", ""), ("Accept-Encoding", "gzip"), ("OpenAI-Organization", "org"), ("x-smg-routing-key", "k")]
    assert g.chat(headers=sent).status == 200
    got = [(n, v) for n, v in w.requests[0].headers if n.lower() in {s[0].lower() for s in sent}]
    assert got == sent


def test_hop_by_hop_request_headers_stay_here(gateway, worker):
    w = worker()
    g = gateway([w])
    headers = [("Connection", "keep-alive, X-Mine"), ("X-Mine", "1"), ("Keep-Alive", "timeout=5"), ("TE", "trailers"),
               ("Upgrade", "h2c"), ("Proxy-Authorization", "Basic eA=="), ("Proxy-Connection", "keep-alive"),
               ("x-smg-routing-tokens", "1,2"), ("x-smg-target-worker", "0"), ("X-Kept", "1")]
    assert g.chat(headers=headers).status == 200
    names = {n.lower() for n, _ in w.requests[0].headers}
    assert "x-kept" in names
    assert not names & {"x-mine", "keep-alive", "te", "upgrade", "proxy-authorization", "proxy-connection",
                        "x-smg-routing-tokens", "x-smg-target-worker", "transfer-encoding", "expect"}


def test_end_to_end_response_headers_pass_repeated_ones_too(gateway, worker):
    headers = [("Set-Cookie", "a=1"), ("X-Thing", "1"), ("Set-Cookie", "b=2"), ("Cache-Control", "no-store"),
               ("Date", "Mon, 01 Jan 2024 00:00:00 GMT"), ("Server", "engine")]
    g = gateway([worker(lambda x: x.respond(200, b"{}", headers))])
    response = g.chat()
    assert [(n, v) for n, v in response.headers if n in dict(headers)] == headers
    assert len(response.all("content-length")) == 1 and len(response.all("x-request-id")) == 1


def test_hop_by_hop_response_headers_stay_here(gateway, worker):
    headers = [("Connection", "keep-alive, X-Theirs"), ("X-Theirs", "1"), ("Keep-Alive", "timeout=5"),
               ("Proxy-Authenticate", "Basic"), ("Upgrade", "h2c"), ("X-Kept", "1")]
    g = gateway([worker(lambda x: x.respond(200, b"{}", headers))])
    response = g.chat()
    names = {n.lower() for n, _ in response.headers}
    assert "x-kept" in names
    assert not names & {"x-theirs", "keep-alive", "upgrade", "proxy-authenticate"}


def test_content_encoding_is_kept_with_its_body(gateway, worker):
    packed = b"\x1f\x8b\x08\x00not really gzip"
    g = gateway([worker(lambda x: x.respond(200, packed, {"Content-Encoding": "gzip"}))])
    response = g.chat()
    assert (response.get("content-encoding"), response.body) == ("gzip", packed)


def test_routed_worker_is_named_and_can_be_hidden(gateway, worker):
    w = worker()
    assert gateway([w]).chat().all("x-smg-routed-worker-id") == [w.url]
    assert gateway([w], "--hide-routed-worker").chat().all("x-smg-routed-worker-id") == []


@pytest.mark.parametrize("name", ["X-Request-Id", "X-Correlation-Id", "X-Trace-Id", "Request-Id"])
def test_callers_request_id_goes_to_both_sides(gateway, worker, name):
    w = worker()
    g = gateway([w])
    response = g.chat(headers={name: "caller-chose-this"})
    assert response.all("x-request-id") == ["caller-chose-this"]
    assert w.requests[0].all("x-request-id") == ["caller-chose-this"]


def test_request_id_headers_can_be_named(gateway, worker):
    g = gateway([worker()], "--request-id-headers", "x-mine", "x-other")
    assert g.chat(headers={"X-Other": "two", "X-Mine": "one"}).get("x-request-id") == "one"
    assert g.chat(headers={"X-Other": "two"}).get("x-request-id") == "two"
    assert g.chat(headers={"X-Correlation-Id": "not-this"}).get("x-request-id") != "not-this"


def test_every_answer_has_a_request_id(gateway):
    g = gateway()
    answers = [g.get("/liveness"), g.get("/nowhere"), g.chat(), g.post(CHAT, b"{"), g.get(CHAT), g.get("/workers")]
    ids = [a.get("x-request-id") for a in answers]
    assert all(ids) and len(set(ids)) == len(ids)


# Response bodies.


def test_chunks_of_an_answer_pass_with_any_framing(gateway, worker):
    def handler(x):
        if x.text == "chunked":
            x.begin(content_type="application/json")
            for piece in (b'{"a"', b":", b"1}"):
                x.chunk(piece)
            x.end()
        elif x.text == "extension":
            x.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7;name=value\r\n{\"a\":1}\r\n0\r\nX-Trailer: 1\r\n\r\n")
        elif x.text == "close":
            x.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"a\":1}")
            x.close()
        else:
            x.respond(200, b'{"a":1}')

    g = gateway([worker(handler)])
    with g.client() as client:
        for text in ("chunked", "extension", "close", "length"):
            response = client.request("POST", CHAT, body=chat_body(text))
            assert (response.status, response.body) == (200, b'{"a":1}'), text


def test_informational_answers_of_a_worker_are_not_taken_for_the_answer(gateway, worker):
    def handler(x):
        x.send(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
        x.respond(200, b'{"final":true}')

    g = gateway([worker(handler)])
    response = g.chat()
    assert (response.status, response.body) == (200, b'{"final":true}')


@pytest.mark.parametrize("status", [204, 304])
def test_answers_without_a_body_leave_the_connection_usable(gateway, worker, status):
    def handler(x):
        if x.text == "empty":
            x.send(f"HTTP/1.1 {status} Nothing\r\nX-Mark: 1\r\n\r\n".encode())
        else:
            answer_chat(x)

    g = gateway([worker(handler)])
    with g.client() as client:
        response = client.request("POST", CHAT, body=chat_body("empty"))
        assert (response.status, response.get("x-mark"), response.body) == (status, "1", b"")
        assert client.request("POST", CHAT, body=chat_body("next")).status == 200


def test_a_slow_reader_slows_the_worker_down(gateway, worker):
    """Back-pressure: 64 MB for a client that does not read are not taken from the worker."""
    progress = [0]
    stop = threading.Event()

    def handler(x):
        x.begin()
        piece = b"x" * 65536
        while progress[0] < 1000 and not stop.is_set():
            x.chunk(piece)
            progress[0] += 1

    g = gateway([worker(handler)])
    before = g.rss_mb()
    with g.client() as client:
        client.send(encode("POST", CHAT, body=chat_body(stream=True)))
        client.read_head()

        def settled():
            seen = progress[0]
            time.sleep(0.3)
            return progress[0] == seen

        until(settled, 10, "the worker's being held up")
        assert progress[0] < 600
        assert g.rss_mb() < before + 10
        stop.set()


def test_worker_dying_in_mid_stream_cuts_the_client(gateway, worker):
    def handler(x):
        x.begin()
        x.event("one")
        x.event("two")
        x.close()

    g = gateway([worker(handler)])
    with g.client() as client:
        client.send(encode("POST", CHAT, body=chat_body(stream=True)))
        head = client.read_head()
        assert head.status == 200
        with pytest.raises(Truncated) as cut:
            list(client.pieces(head))
    assert cut.value.so_far == b'data: "one"\n\ndata: "two"\n\n'
    g.wait_idle()


def test_worker_dying_in_a_body_with_a_length_cuts_the_client(gateway, worker):
    def handler(x):
        x.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
        x.close()

    g = gateway([worker(handler)])
    with g.client() as client:
        client.send(encode("POST", CHAT, body=chat_body()))
        with pytest.raises(Truncated) as cut:
            list(client.pieces(client.read_head()))
    assert cut.value.so_far == b"only this"


def test_client_leaving_before_the_first_byte_ends_the_workers_request(gateway, worker):
    ended = threading.Event()

    def handler(x):
        if x.gone(10):
            ended.set()
        x.close()

    g = gateway([worker(handler)])
    with g.client() as client:
        client.send(encode("POST", CHAT, body=chat_body()))
        until(lambda: g.load() == 1, 5)
    assert ended.wait(2)
    g.wait_idle()


def test_client_leaving_stops_pending_retries(gateway, worker):
    w = worker(lambda x: x.respond(503, b"{}"))
    g = gateway([w], "--retry-initial-backoff-ms", "1000", "--retry-jitter-factor", "0")
    with g.client() as client:
        client.send(encode("POST", CHAT, body=chat_body()))
        until(lambda: len(w.requests) == 1, 5)
    time.sleep(2)
    assert len(w.requests) == 1


# HTTP/1.1 towards the client.


def test_connections_are_kept_alive_on_both_sides(gateway, worker):
    w = worker()
    g = gateway([w], "--io-threads", "1")
    before = w.connections
    with g.client() as client:
        for _ in range(60):
            assert client.request("POST", CHAT, body=chat_body()).status == 200
    # Discovery and load polls make some of their own at the same time.
    assert w.connections - before <= 20


def test_connection_close_is_honoured(gateway, worker):
    g = gateway([worker()])
    with g.client() as client:
        assert client.request("POST", CHAT, body=chat_body(), headers={"Connection": "close"}).status == 200
        assert client.ended()


def test_http_1_0_clients_are_served(gateway, worker):
    g = gateway([worker()])
    body = json.dumps(chat_body(stream=True)).encode()
    with g.client() as client:
        client.send(b"POST /v1/chat/completions HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                    % len(body) + body)
        response = client.read_head()
        assert response.status == 200 and not response.all("transfer-encoding")
        assert b"".join(client.pieces(response)).endswith(b"data: [DONE]\n\n")
        assert client.ended()
    with g.client() as client:
        client.send(b"GET /liveness HTTP/1.0\r\n\r\n")
        assert client.read().body == b"OK"
        assert client.ended()
    with g.client() as client:
        for _ in range(2):
            client.send(b"GET /liveness HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            assert client.read().body == b"OK"


def test_expect_100_continue_is_answered_here(gateway, worker):
    w = worker()
    g = gateway([w])
    body = json.dumps(chat_body()).encode()
    with g.client() as client:
        client.send(encode("POST", CHAT, headers={"Expect": "100-continue", "Content-Length": str(len(body)),
                                                  "Content-Type": "application/json"}))
        assert client.read_head().status == 100
        client.send(body)
        assert client.read().status == 200
    assert not w.requests[0].all("expect")


def test_expect_of_a_body_that_is_too_large_is_refused_without_it(gateway):
    g = gateway([], "--max-payload-size", "100")
    with g.client() as client:
        client.send(encode("POST", CHAT, headers={"Expect": "100-continue", "Content-Length": "1000",
                                                  "Content-Type": "application/json"}))
        assert client.read_head().status == 413


@pytest.mark.parametrize("raw", [
    b"GET /liveness HTTP/1.1\r\n\r\n",
    b"GET /liveness HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET  /liveness HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /liveness HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n",
    b"GET /liveness HTTP/1.1\r\nHost: a\r\n folded: x\r\n\r\n",
    b"GET /liveness HTTP/1.1\r\nHost : a\r\n\r\n",
    b"GET /liveness HTTP/1.1\nHost: a\n\n",
    b"POST /generate HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n{}",
    b"POST /generate HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\n{}",
    b"POST /generate HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    b"POST /generate HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /generate HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    b"POST /generate HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n",
    b"GET /live\x00ness HTTP/1.1\r\nHost: a\r\n\r\n",
    b"not http at all\r\n\r\n",
], ids=["no host", "two hosts", "two blanks", "blank in a name", "folded", "blank before the colon", "bare LF",
        "empty length", "signed length", "two lengths", "length and chunked", "bad chunk size", "bad chunk end",
        "NUL", "noise"])
def test_ambiguous_messages_are_refused_and_the_connection_closed(gateway, worker, raw):
    w = worker()
    g = gateway([w])
    with g.client(timeout=5) as client:
        client.send(raw)
        response = client.read()
        assert response.status == 400
        assert response.json()["error"]["code"] == "invalid_request"
        assert client.ended()
    assert not w.requests


@pytest.mark.parametrize("raw, status", [
    (b"GET /liveness HTTP/2.0\r\nHost: a\r\n\r\n", 505),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    (b"POST /generate HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    (b"GET /liveness HTTP/1.1\r\nHost: a\r\nX-Big: " + b"a" * 70_000 + b"\r\n\r\n", 431),
    (b"GET /liveness HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 300 + b"\r\n", 431),
], ids=["version", "h2 preface", "coding", "target", "header", "fields"])
def test_what_is_not_supported_has_its_own_status(gateway, raw, status):
    g = gateway()
    with g.client(timeout=5) as client:
        client.send(raw)
        assert client.read().status == status
        assert client.ended()


def test_h2c_upgrade_is_not_taken_up(gateway, worker):
    g = gateway([worker()])
    response = g.chat(headers={"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABk"})
    assert response.status == 200


def test_absolute_form_targets_are_understood(gateway, worker):
    g = gateway([worker()])
    with g.client() as client:
        client.send(encode("POST", "http://gateway.test" + CHAT, body=chat_body()))
        assert client.read().status == 200


def test_many_clients_at_once(gateway, worker):
    g = gateway([worker(), worker()], policy="cache_aware")
    clients = [g.client() for _ in range(100)]
    for i, client in enumerate(clients):
        client.send(encode("POST", CHAT, body=chat_body(f"{i} asks", stream=True)))
    for client in clients:
        assert client.read().body.endswith(b"data: [DONE]\n\n")
        client.close()
    g.wait_idle()


# A stale connection to a worker.


def test_connection_that_the_worker_closed_while_idle_is_not_an_error(gateway, worker):
    w = worker()
    g = gateway([w], "--disable-retries", "--io-threads", "1")

    def once(x):
        answer_chat(x)
        x.close()

    w.handler = once
    for _ in range(10):
        assert g.chat().status == 200


def test_reused_connection_that_dies_with_the_request_is_replaced_once(gateway, worker):
    w = worker()
    g = gateway([w], "--disable-retries", "--io-threads", "1")
    assert g.chat().status == 200
    state = {"first": True}

    def handler(x):
        if state.pop("first", False):
            x.reset()
        else:
            answer_chat(x)

    w.handler = handler
    assert g.chat().status == 200
