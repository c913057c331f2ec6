"""Failures that people reported of other gateways, replayed. The names keep the reports' numbers."""

import hashlib
import json
import signal
import threading
import time

import pytest

from support.gateway import CHAT, chat_body
from support.http import Truncated, encode, fetch
from support.ports import free_port
from support.scripted import answer_chat
from support.wait import until


# Streaming.


def test_e02_each_event_is_flushed_at_once(gateway, worker):
    sent = []
    first = b"data: " + b"a" * 32 + b"\n\n"
    assert len(first) == 40

    def handler(x):
        x.begin()
        sent.append(time.monotonic())
        x.chunk(first)
        time.sleep(2)
        x.chunk(b"data: second\n\n")
        x.end()

    g = gateway([worker(handler)])
    with g.client() as client:
        client.send(encode("POST", CHAT, body=chat_body(stream=True)))
        head = client.read_head()
        pieces = [(piece, time.monotonic()) for piece in client.pieces(head)]
    assert b"".join(p for p, _ in pieces) == first + b"data: second\n\n"
    assert pieces[0][0] == first
    assert pieces[0][1] - sent[0] < 0.2
    assert pieces[1][1] - pieces[0][1] >= 1.8


def test_e03_events_cut_at_any_byte_arrive_whole(gateway, worker):
    text = 'data: {"t":"é世😀"}\n\ndata: [DONE]\n\n'.encode()

    def handler(x):
        x.begin()
        for i in range(len(text)):
            x.chunk(text[i:i + 1])
            time.sleep(0.001)
        x.end()

    g = gateway([worker(handler)])
    assert g.chat(stream=True).body == text


def test_e06_reset_before_the_first_byte_is_an_error_status(gateway, worker):
    broken = worker(lambda x: x.reset())
    g = gateway([broken], "--disable-retries")
    response = g.chat(stream=True)
    assert 500 <= response.status <= 503
    assert response.json()["error"]["code"] in ("upstream_closed", "upstream_connect_failed")


def test_e06_reset_before_the_first_byte_is_retried_elsewhere(gateway, worker):
    broken, good = worker(lambda x: x.reset()), worker()
    g = gateway([broken, good])
    for _ in range(4):
        response = g.chat(stream=True)
        assert response.status == 200
        assert response.body.endswith(b"data: [DONE]\n\n")
    assert broken.requests


# Clients that leave.


def test_e08_client_leaving_in_mid_stream_ends_the_workers_stream(gateway, worker):
    ended = []

    def handler(x):
        x.begin()
        started = time.monotonic()
        try:
            while time.monotonic() - started < 30:
                x.event("tick")
                time.sleep(0.1)
        except OSError:
            ended.append(time.monotonic())

    g = gateway([worker(handler)])
    with g.client() as client:
        client.send(encode("POST", CHAT, body=chat_body(stream=True)))
        pieces = client.pieces(client.read_head())
        for _ in range(3):
            next(pieces)
    left = time.monotonic()
    until(lambda: ended, 2, "the end of the worker's stream")
    assert ended[0] - left < 2
    g.wait_idle()


def test_e11_half_a_body_is_never_delivered(gateway, worker):
    w = worker()
    g = gateway([w])
    with g.client() as client:
        client.send(encode("POST", CHAT, headers={"Content-Length": "100000"}, body=b"x" * 300))
    assert g.chat().status == 200
    assert len(w.requests) == 1 and not w.incomplete
    g.wait_idle()


# Retries.


def test_e13_nothing_is_retried_after_the_first_body_byte(gateway, worker):
    def handler(x):
        x.begin()
        x.event("once")
        x.close()

    a, b = worker(handler), worker(handler)
    g = gateway([a, b])
    with g.client() as client:
        client.send(encode("POST", CHAT, body=chat_body(stream=True)))
        head = client.read_head()
        with pytest.raises(Truncated) as cut:
            list(client.pieces(head))
    assert cut.value.so_far == b'data: "once"\n\n'
    assert len(a.requests) + len(b.requests) == 1


def test_e15_prefix_of_a_dead_worker_is_served_by_another(gateway, worker):
    workers = [worker(), worker()]
    g = gateway(workers, "--health-check-interval-secs", "60", policy="cache_aware")
    prompt = "a prefix that one of the two has served before " * 10
    home = next(w for w in workers if w.url == g.chat(prompt).worker)
    other = next(w for w in workers if w is not home)
    home.stop()
    for _ in range(5):
        response = g.chat(prompt)
        assert response.status == 200 and response.worker == other.url
        assert response.seconds < 2


def test_e17_a_429_is_retried_on_a_worker_that_has_room(gateway, worker):
    limited = worker(lambda x: x.respond(429, {"error": "busy"}, {"Retry-After": "2"}))
    g = gateway([limited, worker()])
    assert [g.chat().status for _ in range(10)] == [200] * 10
    assert limited.requests


def test_e17_when_all_say_429_the_last_one_is_passed_on(gateway, worker):
    def handler(x):
        x.respond(429, b'{"busy": true}', {"Retry-After": "2"})

    g = gateway([worker(handler), worker(handler)])
    response = g.chat()
    assert response.status == 429
    assert response.get("retry-after") == "2"
    assert response.body == b'{"busy": true}'
    assert response.seconds < 2


# Workers that come and go.


def test_e19_a_dead_url_does_not_keep_the_live_worker_from_serving(gateway, worker):
    started = time.monotonic()
    g = gateway([worker(), f"http://127.0.0.1:{free_port()}"], ready=False)
    until(lambda: g.chat().status == 200, 5, "an answer")
    assert time.monotonic() - started < 5


def test_e19_without_any_worker_it_lives_but_is_not_ready(gateway):
    g = gateway()
    assert g.get("/liveness").status == 200
    assert g.get("/readiness").status == 503
    assert g.chat().status == 503


def test_e21_models_are_listed_while_one_worker_is_down(gateway, worker):
    a, b = worker(model="alpha"), worker(model="beta")
    g = gateway([a, b], "--health-check-interval-secs", "1", "--health-failure-threshold", "1")
    a.stop()
    for _ in range(20):
        response = g.get("/v1/models")
        assert response.status == 200
        assert "beta" in [m["id"] for m in response.json()["data"]]


# Cache-aware routing.


def test_e26_misses_go_to_the_idle_worker_whatever_its_tree(gateway, worker):
    leave = threading.Event()

    def handler(x):
        if x.text.startswith("standing"):
            x.begin()
            x.event("held")
            leave.wait(60)
            x.end()
        else:
            answer_chat(x)

    workers = [worker(handler), worker(handler)]
    g = gateway(workers, policy="cache_aware")
    busy, streams = None, []
    try:
        for i in range(6):
            client = g.client()
            client.send(encode("POST", CHAT, body=chat_body("standing" + " prefix" * 20 + f" {i}", stream=True)))
            head = client.read_head()
            streams.append(client)
            busy = busy or head.get("x-smg-routed-worker-id")
            assert head.get("x-smg-routed-worker-id") == busy
        idle = next(w.url for w in workers if w.url != busy)
        for i in range(20):
            g.chat(f"{i} fills the tree of the idle one " * 40)
        fresh = [g.chat(f"{i} is new, and unlike any other {i * 7919}").worker for i in range(100, 110)]
        assert fresh.count(idle) >= 8
    finally:
        leave.set()
        for client in streams:
            client.close()


def test_e28_ties_do_not_all_go_to_the_first_worker(gateway, worker):
    workers = [worker() for _ in range(4)]
    g = gateway(workers, policy="cache_aware")

    served = [g.chat(hashlib.sha256(str(i).encode()).hexdigest()).worker for i in range(40)]
    assert min(served.count(w.url) for w in workers) >= 5


# Request shapes.


def same_at_the_worker(gateway, worker, path, body: bytes):
    w = worker()
    g = gateway([w])
    response = g.post(path, body)
    assert response.status == 200, response
    assert w.requests[0].body == body
    return w.requests[0]


def test_e31_arrays_of_parts_are_accepted_for_every_role(gateway, worker):
    same_at_the_worker(gateway, worker, CHAT, json.dumps({"model": "m", "messages": [
        {"role": "system", "content": [{"type": "text", "text": "s"}]},
        {"role": "user", "content": [{"type": "text", "text": "u"},
                                     {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]},
        {"role": "assistant", "content": [{"type": "text", "text": "a"}]},
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "t"}]}]}).encode())


def test_e33_a_tool_without_parameters_is_forwarded(gateway, worker):
    tools = [{"type": "function", "function": {"name": "now"}}]
    x = same_at_the_worker(gateway, worker, CHAT, json.dumps(chat_body(tools=tools)).encode())
    assert x.json()["tools"] == tools


def test_e36_null_options_stay_null(gateway, worker):
    nulls = dict.fromkeys(["stop", "tools", "seed", "stream_options", "response_format", "logit_bias", "n", "user",
                           "stream"])
    x = same_at_the_worker(gateway, worker, CHAT, json.dumps(chat_body(**nulls)).encode())
    assert all(x.json()[key] is None for key in nulls)


def sized_chat(size):
    """A chat body of exactly that many bytes."""
    empty = json.dumps(chat_body("")).encode()
    return json.dumps(chat_body("x" * (size - len(empty)))).encode()


def test_e43_bodies_up_to_100_mb_pass(gateway, worker):
    seen = []

    def handler(x):
        seen.append((len(x.body), hashlib.sha256(x.body).digest()))
        x.body = b""
        answer = b'{"ok":true}'
        x.respond(200, answer)

    g = gateway([worker(handler)])
    g.chat()
    before, seen[:] = g.rss_mb(), []
    for size in (127_000, 129_000, 1 << 20, 8 << 20, 100_000_000):
        body = sized_chat(size)
        assert g.post(CHAT, body).status == 200
        assert seen[-1] == (size, hashlib.sha256(body).digest())
    until(lambda: g.rss_mb() < before + 50, 5, "the memory coming back")


# Headers.


def test_e47_one_request_id_for_both_sides(gateway, worker):
    w = worker()
    g = gateway([w])
    ids = [g.chat().get("x-request-id") for _ in range(2)]
    assert all(ids) and ids[0] != ids[1]
    assert [x.all("x-request-id") for x in w.requests] == [[ids[0]], [ids[1]]]


def test_e50_exactly_one_host_and_one_length(gateway, worker):
    body = b'{ "model" : "m",  "messages" : [ { "role" : "user", "content" : "x" } ] }   '
    w = worker()
    g = gateway([w])
    assert g.post(CHAT, body, headers={"Host": "public.example"}).status == 200
    x = w.requests[0]
    assert x.all("host") == [f"127.0.0.1:{w.port}"]
    assert x.all("content-length") == [str(len(body))]
    assert x.body == body and not x.all("transfer-encoding")


def test_e52_a_workers_own_key_takes_the_place_of_the_callers(gateway, worker):
    keyed, open_ = worker(model="keyed"), worker(model="open")
    g = gateway()
    g.add_worker(keyed, api_key="wk")
    g.add_worker(open_)
    g.wait_ready(2)
    for model in ("keyed", "open"):
        assert g.chat(model=model, headers={"Authorization": "Bearer user"}).status == 200
    assert keyed.requests[0].all("authorization") == ["Bearer wk"]
    assert open_.requests[0].all("authorization") == ["Bearer user"]


def test_e54_retry_after_and_rate_limit_headers_pass(gateway, worker):
    headers = {"Retry-After": "30", "x-ratelimit-remaining-requests": "0"}
    g = gateway([worker(lambda x: x.respond(429, b'{"error":"slow down"}', headers))], "--disable-retries")
    response = g.chat()
    assert response.status == 429
    assert response.get("retry-after") == "30"
    assert response.get("x-ratelimit-remaining-requests") == "0"
    assert response.body == b'{"error":"slow down"}'


# Errors.


def test_e56_known_model_without_a_usable_worker_is_503_unknown_is_404(gateway, worker):
    w = worker()
    g = gateway([w], "--health-check-interval-secs", "1", "--health-failure-threshold", "1")
    w.stop()
    until(lambda: not g.worker(w)["is_healthy"], 10, "the worker's being unhealthy")
    known, unknown = g.chat(), g.chat(model="zz")
    assert (known.status, known.json()["error"]["code"]) == (503, "no_available_workers")
    assert (unknown.status, unknown.json()["error"]["code"]) == (404, "model_not_found")


E58_BODIES = {
    CHAT: chat_body(),
    "/v1/completions": {"model": "m", "prompt": "x"},
    "/generate": {"model": "m", "text": "x"},
    "/v1/embeddings": {"model": "m", "input": "x"},
    "/v1/rerank": {"model": "m", "query": "x", "documents": ["y"]},
    "/rerank": {"model": "m", "query": "x", "documents": ["y"]},
    "/v1/responses": {"model": "m", "input": "x"},
    "/v1/messages": chat_body(max_tokens=5),
}


@pytest.mark.parametrize("policy", ["round_robin", "cache_aware"])
def test_e58_a_workers_400_is_the_same_on_all_paths(gateway, worker, policy):
    answer = b'{"object":"error","message":"temperature must be positive","code":40001}'
    w = worker(lambda x: x.respond(400, answer))
    g = gateway([w], policy=policy)
    for path, body in E58_BODIES.items():
        for stream in (False, True):
            response = g.post(path, {**body, "stream": stream})
            assert (response.status, response.body) == (400, answer), path
    assert len(w.requests) == 2 * len(E58_BODIES)


def test_e60_answers_of_any_type_pass_by_their_status(gateway, worker):
    def handler(x):
        if x.text == "forbidden":
            x.respond(403, b"nope", content_type=None)
        else:
            x.respond(200, b"OK", content_type="text/plain")

    g = gateway([worker(handler)])
    forbidden, plain = g.chat("forbidden"), g.chat("plain")
    assert (forbidden.status, forbidden.body, forbidden.get("content-type")) == (403, b"nope", None)
    assert (plain.status, plain.body, plain.get("content-type")) == (200, b"OK", "text/plain")


# Metrics.


def test_e63_every_request_is_counted_by_its_status(gateway, worker):
    seen = threading.Event()

    def handler(x):
        if x.text == "silent":
            seen.set()
            x.gone(30)
            x.close()
        else:
            answer_chat(x)

    g = gateway([worker(handler)], "--max-payload-size", "10000")

    def requests():
        return g.metric("smg_http_requests_total", path=CHAT)

    def responses(**labels):
        return g.metric("smg_http_responses_total", path=CHAT, **labels)

    before = requests(), responses()
    for _ in range(5):
        assert g.chat().status == 200
    for _ in range(3):
        assert g.post(CHAT, b"{not json").status == 400
    for _ in range(2):
        assert g.chat(model="unknown-one").status == 404
    assert g.chat("x" * 20000).status == 413
    with g.client() as client:
        client.send(encode("POST", CHAT, body=chat_body("silent")))
        assert seen.wait(5)
    g.wait_idle()
    until(lambda: requests() - before[0] == 12, 5, "12 requests counted")
    until(lambda: responses() - before[1] in (11, 12), 5, "11 or 12 responses counted")
    assert responses(status_code="200") == 5
    assert responses(status_code="400", error_code="invalid_json") == 3
    assert responses(status_code="404", error_code="model_not_found") == 2
    assert responses(status_code="413", error_code="request_body_too_large") == 1


# Signals.


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("hanging", [False, True], ids=["dead", "silent"])
def test_e81_signals_work_while_workers_are_awaited(gateway, worker, number, hanging):
    if hanging:
        w = worker()
        w.probes_hang = True
        urls = [w.url]
    else:
        urls = [f"http://127.0.0.1:{free_port()}" for _ in range(2)]
    g = gateway(urls, "--shutdown-grace-period-secs", "180", ready=False)
    time.sleep(1)
    g.signal(number)
    assert g.wait(3) == 0


# Framing.


def test_e90_head_has_no_body_and_leaves_the_connection_usable(gateway, worker):
    def handler(x):
        body = b"" if x.method == "HEAD" else b"m" * 1192
        x.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1192\r\n\r\n" + body)

    g = gateway([worker(handler)])
    with g.client(timeout=3) as client:
        health = client.request("HEAD", "/health")
        models = client.request("HEAD", "/v1/models")
        proxied = client.request("HEAD", "/get_model_info")
        after = client.request("GET", "/v1/models")
    assert (health.status, models.status, proxied.status) == (200, 200, 200)
    assert proxied.get("content-length") == "1192"
    assert models.get("content-length") == str(len(after.body))
    assert after.json()["data"][0]["id"] == "m"


@pytest.mark.parametrize("slow", [False, True], ids=["fast", "slow"])
def test_e92_pipelined_requests_are_answered_in_order(gateway, worker, slow):
    def handler(x):
        if slow:
            time.sleep(0.5)
        x.respond(200, {"echo": x.text})

    g = gateway([worker(handler)])
    with g.client() as client:
        client.send(encode("GET", "/liveness") + encode("POST", CHAT, body=chat_body("one")) +
                    encode("GET", "/v1/models") + encode("POST", CHAT, body=chat_body("two")) +
                    encode("GET", "/liveness"))
        answers = [client.read() for _ in range(5)]
    assert [a.status for a in answers] == [200] * 5
    assert answers[0].body == b"OK"
    assert answers[1].json() == {"echo": "one"}
    assert answers[2].json()["object"] == "list"
    assert answers[3].json() == {"echo": "two"}
    assert answers[4].body == b"OK"


def test_e94_a_body_that_ends_with_the_connection_ends_the_clients_message(gateway, worker):
    def handler(x):
        x.send(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nthe whole body")
        x.close()

    g = gateway([worker(handler)])
    with g.client() as client:
        response = client.request("POST", CHAT, body=chat_body())
        assert (response.status, response.body) == (200, b"the whole body")
        assert response.seconds < 1
        assert client.request("GET", "/liveness").status == 200


def test_e94_a_reset_in_such_a_body_is_visible(gateway, worker):
    def handler(x):
        x.send(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhalf of the bo")
        until(lambda: started.is_set(), 5)
        x.reset()

    started = threading.Event()
    g = gateway([worker(handler)])
    with g.client() as client:
        client.send(encode("POST", CHAT, body=chat_body()))
        head = client.read_head()
        with pytest.raises(Truncated):
            for _ in client.pieces(head):
                started.set()


def test_e96_requests_of_several_mb_pass_in_both_framings(gateway, worker):
    seen = []

    def handler(x):
        seen.append(hashlib.sha256(x.body).digest())
        x.respond(200, b"{}")

    g = gateway([worker(handler)])
    for size in (900_000, 1_100_000, 9_000_000):
        body = sized_chat(size)
        assert g.post(CHAT, body).status == 200
        chunks = [body[i:i + 65536] for i in range(0, size, 65536)]
        assert g.request("POST", CHAT, chunks=chunks).status == 200
        assert seen[-2:] == [hashlib.sha256(body).digest()] * 2


def test_e96_responses_of_several_mb_pass_in_both_framings_without_being_held(gateway, worker):
    block = bytes(range(256)) * 256  # 64 KiB

    def handler(x):
        size, framing = x.text.split()
        left = int(size)
        if framing == "length":
            x.send(f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {left}\r\n\r\n".encode())
        else:
            x.begin(content_type="text/plain")
        while left:
            piece = block[:left]
            x.send(piece) if framing == "length" else x.chunk(piece)
            left -= len(piece)
        if framing == "chunked":
            x.end()

    def expected(size):
        digest = hashlib.sha256()
        for _ in range(size // len(block)):
            digest.update(block)
        digest.update(block[:size % len(block)])
        return digest.digest()

    g = gateway([worker(handler)])
    g.chat("100 length")
    for size in (7_000_000, 9_000_000, 64_000_000):
        for framing in ("length", "chunked"):
            before = g.rss_mb()
            g.reset_peak()
            digest, total = hashlib.sha256(), 0
            with g.client() as client:
                client.send(encode("POST", CHAT, body=chat_body(f"{size} {framing}")))
                for piece in client.pieces(client.read_head()):
                    digest.update(piece)
                    total += len(piece)
            assert (total, digest.digest()) == (size, expected(size))
            assert g.peak_mb() < before + 16


def test_e40_the_last_of_two_equal_keys_counts(gateway, worker):
    a, b = worker(model="a"), worker(model="b")
    g = gateway([a, b])
    body = b'{"model":"a","model":"b","messages":[{"role":"user","content":"x"}]}'
    assert g.post(CHAT, body).status == 200
    assert b.bodies() == [body] and not a.requests


def test_e38_deep_nesting_is_refused_without_harm(gateway, worker):
    w = worker()
    g = gateway([w])

    def nested(depth):
        schema = b'{"properties":' * depth + b"1" + b"}" * depth
        return b'{"model":"m","messages":[{"role":"user","content":"x"}],"tools":' + schema + b"}"

    for depth in (100, 200):
        assert g.post(CHAT, nested(depth)).status == 200
    assert w.bodies() == [nested(100), nested(200)]
    for body in (nested(600), b"[" * 100_000, b'{"a":' + b"[" * 100_000):
        response = g.post(CHAT, body)
        assert (response.status, response.json()["error"]["code"]) == (400, "invalid_json")
        assert response.seconds < 2
    assert g.chat().status == 200


def test_e77_only_a_plain_request_id_is_echoed(gateway, worker):
    w = worker()
    g = gateway([w])
    for bad in ("a b", "A" * 10_000, "\x80\xff", "a\tb", "A" * 129):
        response = g.chat(headers={"X-Request-Id": bad})
        assert response.status == 200
        assert response.get("x-request-id") not in (bad, None)
        assert w.requests[-1].all("x-request-id") == response.all("x-request-id")
    good = "trace-%0d%0a-" + "A" * 100
    assert g.chat(headers={"X-Request-Id": good}).all("x-request-id") == [good]
    assert fetch(w.port, "GET", "/health").status == 200
