"""Worker administration, keys, probes and the other routes that are not proxied inference."""

import threading
import time
import uuid

import pytest

from support.gateway import CHAT, chat_body
from support.http import Truncated, encode
from support.ports import free_port
from support.wait import stays, until

# Workers by API.


def test_worker_is_added_listed_and_removed(gateway, worker):
    w = worker()
    g = gateway([], "--drain-settle-secs", "0")
    response = g.post("/workers", {"url": w.url})
    assert response.status == 202
    document = response.json()
    identity = document["worker_id"]
    uuid.UUID(identity)
    assert document["status"] == "accepted" and document["url"] == w.url
    assert response.get("location") == document["location"] == f"/workers/{identity}"
    g.wait_ready(1)
    listing = g.get("/workers").json()
    assert listing["total"] == 1
    assert listing["stats"] == {"prefill_count": 0, "decode_count": 0, "regular_count": 1}
    one = g.get(f"/workers/{identity}")
    assert one.status == 200
    info = one.json()
    assert info["id"] == identity and info["url"] == w.url and info["model_id"] == "m"
    assert info["status"] == "ready" and info["is_healthy"] is True and info["load"] == 0
    assert info["worker_type"] == "regular" and info["connection_mode"] == "http"
    assert (info["priority"], info["cost"]) == (50, 1.0)
    assert g.chat().status == 200
    assert g.request("DELETE", f"/workers/{identity}").status == 202
    until(lambda: g.get(f"/workers/{identity}").status == 404, 5, "the removal")
    assert g.get("/workers").json()["total"] == 0
    assert g.chat().status == 503


def test_workers_can_be_filtered_by_model(gateway, worker):
    g = gateway([worker(model="a"), worker(model="b"), worker(model="b")])
    assert [w["model_id"] for w in g.get("/workers?model=b").json()["workers"]] == ["b", "b"]
    assert g.get("/workers?model=b").json()["total"] == 2
    assert g.get("/workers?model=c").json()["total"] == 0


def test_worker_that_is_not_up_yet_is_listed_and_joins_later(gateway, worker):
    w = worker()
    w.stop()
    g = gateway()
    identity = g.add_worker(w)
    assert g.get(f"/workers/{identity}").status == 200
    assert g.get(f"/workers/{identity}").json()["is_healthy"] is False
    assert g.get("/readiness").status == 503
    w.start()
    g.wait_ready(1)
    assert g.chat().status == 200


def test_same_url_twice_is_a_conflict(gateway, worker):
    w = worker()
    g = gateway([w])
    for url in (w.url, w.url + "/"):
        response = g.post("/workers", {"url": url})
        assert response.status == 409
        assert response.get("x-smg-error-code") or response.json()


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x", "http://", "http://u:p@127.0.0.1:1", "http://a b",
                                 "HTTP//x", "", "http://127.0.0.1:99999", "http://169.254.169.254/latest",
                                 "http://[fe80::1]:80"])
def test_bad_worker_urls_are_refused(gateway, url):
    g = gateway()
    response = g.post("/workers", {"url": url})
    assert response.status == 400
    assert response.get("content-type").startswith("application/json")
    assert g.get("/workers").json()["total"] == 0


@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b'{"url": 1}', b'{"url":"http://a:1","priority":"x"}',
                                  b'{"url":"http://a:1","labels":1}'])
def test_bad_worker_specs_are_refused(gateway, body):
    g = gateway()
    assert g.post("/workers", body).status in (400, 422)
    assert g.get("/workers").json()["total"] == 0


def test_redirects_of_a_worker_are_not_followed(gateway, worker):
    target = worker()
    w = worker(lambda x: x.respond(302, b"", {"Location": target.url + "/v1/chat/completions"}))
    g = gateway([w])
    assert g.chat().status == 302
    assert not target.requests and not target.probes


def test_worker_ids(gateway):
    g = gateway()
    unknown = str(uuid.uuid4())
    for method in ("GET", "DELETE", "PUT", "PATCH"):
        body = {"url": "http://127.0.0.1:1"} if method in ("PUT", "PATCH") else None
        assert g.request(method, f"/workers/{unknown}", body=body).status == 404
        assert g.request(method, "/workers/not-an-id", body=body).status in (400, 404)


def test_patch_changes_a_worker_and_put_replaces_it(gateway, worker):
    w = worker()
    g = gateway([w])
    identity = g.worker(w)["id"]
    patch = {"priority": 7, "cost": 2.5, "labels": {"zone": "a"}}
    assert g.request("PATCH", f"/workers/{identity}", body=patch).status == 202
    until(lambda: g.worker(w)["priority"] == 7, 5, "the change")
    g.request("PATCH", f"/workers/{identity}", body={"labels": {"rack": "b"}})
    until(lambda: g.worker(w)["labels"].get("rack") == "b", 5, "the second change")
    info = g.worker(w)
    assert (info["cost"], info["labels"]["zone"], info["id"]) == (2.5, "a", identity)
    assert g.request("PUT", f"/workers/{identity}", body={"url": w.url, "priority": 9}).status == 202
    until(lambda: g.worker(w)["priority"] == 9, 5, "the replacement")
    assert g.worker(w)["cost"] == 1.0 and "zone" not in g.worker(w)["labels"]
    assert g.request("PUT", f"/workers/{identity}", body={"url": "http://127.0.0.1:1"}).status == 400
    assert g.chat().status == 200


def test_worker_given_models_needs_no_discovery(gateway, worker):
    w = worker(model="its-own-name")
    g = gateway()
    g.add_worker(w, models=[{"id": "given"}])
    g.wait_ready(1)
    assert g.chat(model="given").status == 200
    assert g.chat(model="its-own-name").status == 404


def test_removal_lets_running_requests_finish(gateway, worker):
    leave = threading.Event()

    def handler(x):
        x.begin()
        x.event("first")
        leave.wait(20)
        x.event("last")
        x.end()

    w = worker(handler)
    g = gateway([w], "--drain-settle-secs", "1")
    with g.client() as client:
        client.send(encode("POST", CHAT, body=chat_body(stream=True)))
        head = client.read_head()
        pieces = client.pieces(head)
        next(pieces)
        identity = g.worker(w)["id"]
        g.request("DELETE", f"/workers/{identity}")
        until(lambda: g.worker(w)["status"] == "draining", 5, "draining")
        assert g.chat().status == 503
        leave.set()
        assert b"".join(pieces) == b'data: "last"\n\n'
    until(lambda: not g.workers(), 10, "the removal after the last request")


# Keys.


def test_without_a_key_admin_calls_are_for_this_machine(gateway, worker):
    w = worker()
    g = gateway()
    assert g.post("/workers", {"url": w.url}).status == 202
    g.wait_ready(1)
    assert g.post("/flush_cache", None).status in (200, 206)


def test_with_a_key_admin_calls_need_it(gateway, worker):
    w = worker()
    g = gateway([], "--api-key", "k")
    key = {"Authorization": "Bearer k"}
    for method, path in (("POST", "/workers"), ("GET", "/workers"), ("GET", "/get_loads"), ("POST", "/flush_cache")):
        response = g.request(method, path, body={"url": w.url} if method == "POST" else None)
        assert response.status == 401 and response.json()["error"]["code"] == "invalid_api_key", path
    assert g.post("/workers", {"url": w.url}, headers=key).status == 202
    assert g.get("/workers", headers=key).json()["total"] == 1
    for path in ("/health", "/liveness", "/readiness", "/v1/models"):
        assert g.get(path).status in (200, 503), path


def test_workers_of_the_command_line_inherit_the_key(gateway, worker):
    w = worker()
    g = gateway([w], "--api-key", "k", ready=False)
    until(lambda: g.get("/readiness").status == 200, 10)
    key = {"Authorization": "Bearer k"}
    until(lambda: g.chat(headers=key).status == 200, 10)
    assert w.requests[-1].all("authorization") == ["Bearer k"]


def test_worker_api_key_takes_its_place(gateway, worker, tmp_path):
    key_file = tmp_path / "key"
    key_file.write_text("from-file\n")
    for flags, expected in ((["--worker-api-key", "wk"], "Bearer wk"),
                            (["--worker-api-key-file", str(key_file)], "Bearer from-file")):
        w = worker()
        g = gateway([w], "--api-key", "k", *flags, ready=False)
        until(lambda: g.chat(headers={"Authorization": "Bearer k"}).status == 200, 10)
        assert w.requests[-1].all("authorization") == [expected]


def test_gateways_key_is_not_passed_to_a_worker_that_was_not_given_it(gateway, worker):
    w = worker()
    g = gateway([], "--api-key", "k", ready=False)
    key = {"Authorization": "Bearer k"}
    assert g.post("/workers", {"url": w.url}, headers=key).status == 202
    until(lambda: g.chat(headers=key).status == 200, 10)
    assert all(x.all("authorization") == [] for x in [*w.requests, *w.probes])


def test_keys_are_not_shown(gateway, worker):
    w = worker()
    g = gateway([], "--api-key", "gateway-secret", ready=False)
    key = {"Authorization": "Bearer gateway-secret"}
    g.post("/workers", {"url": w.url, "api_key": "worker-secret"}, headers=key)
    until(lambda: g.chat(headers=key).status == 200, 10)
    shown = g.get("/workers", headers=key).body + g.metrics().text.encode() + g.output().encode()
    assert b"gateway-secret" not in shown and b"worker-secret" not in shown


# Probes and lists.


def test_liveness_and_health(gateway):
    g = gateway()
    for path in ("/liveness", "/health"):
        response = g.get(path)
        assert (response.status, response.body) == (200, b"OK")


def test_readiness_says_how_many_workers_are_healthy(gateway, worker):
    g = gateway([worker(), worker(), f"http://127.0.0.1:{free_port()}"], ready=False)
    until(lambda: g.get("/readiness").json().get("healthy_workers") == 2, 10)
    assert g.get("/readiness").json() == {"status": "ready", "healthy_workers": 2, "total_workers": 3}


def test_not_ready_says_why(gateway):
    response = gateway().get("/readiness")
    assert response.status == 503
    assert response.json()["status"] == "not ready"
    assert response.json()["reason"] == "insufficient healthy workers"


def test_models_are_the_union_over_the_workers(gateway, worker):
    g = gateway([worker(model="b"), worker(model="a"), worker(model="b")])
    document = g.get("/v1/models").json()
    assert document["object"] == "list"
    assert sorted(m["id"] for m in document["data"]) == ["a", "b"]
    assert all(m["object"] == "model" and isinstance(m["created"], int) and m["owned_by"] for m in document["data"])


def test_requests_go_to_the_workers_of_their_model(gateway, worker):
    a, b = worker(model="a"), worker(model="b")
    g = gateway([a, b])
    for _ in range(4):
        assert g.chat(model="b").worker == b.url
    assert not a.requests
    served = {g.post("/generate", {"text": "x", **more}).worker for more in ({}, {"model": "unknown"}) for _ in range(4)}
    assert served == {a.url, b.url}


@pytest.mark.parametrize("path", ["/health_generate", "/get_server_info", "/get_model_info"])
def test_information_is_asked_of_one_worker(gateway, worker, path):
    w = worker(lambda x: x.respond(200, {"path": x.path}))
    g = gateway([w])
    w.answers_questions = True
    response = g.get(path)
    assert response.status == 200 and response.json() == {"path": path}
    w.stop()
    assert gateway().get(path).status == 503


def test_flush_cache_reports_each_worker(gateway, worker):
    ok = worker(lambda x: x.respond(200, b"flushed"))
    bad = worker(lambda x: x.respond(500, b"no"))
    g = gateway([ok, bad])
    response = g.post("/flush_cache", None)
    assert response.status == 206
    document = response.json()
    assert document["status"] == "partial_success"
    assert document["successful"] == [ok.url]
    assert [f["worker"] for f in document["failed"]] == [bad.url]
    bad.handler = ok.handler
    document = g.post("/flush_cache", None).json()
    assert document["status"] == "success" and document["workers_flushed"] == 2
    assert gateway().post("/flush_cache", None).json()["status"] == "success"


def test_get_loads_without_reports(gateway, worker):
    g = gateway([worker()])
    document = g.get("/get_loads").json()
    assert document["loads"] == [] and document["dp_rank_count"] == 0 and "aggregate" not in document


# Health.


def test_worker_goes_down_and_comes_back_by_itself(gateway, worker):
    a, b = worker(), worker()
    g = gateway([a, b], "--health-check-interval-secs", "1", "--health-failure-threshold", "2",
                "--health-success-threshold", "2")
    a.healthy = False
    until(lambda: not g.worker(a)["is_healthy"], 10, "its being unhealthy")
    assert g.worker(a)["status"] in ("not_ready", "failed")
    assert {g.chat().worker for _ in range(6)} == {b.url}
    until(lambda: g.metric("smg_worker_health", worker=a.url) == 0, 5)
    assert g.metric("smg_worker_health", worker=b.url) == 1
    a.healthy = True
    until(lambda: g.worker(a)["status"] == "ready", 10, "its coming back")
    assert {g.chat().worker for _ in range(6)} == {a.url, b.url}
    assert g.metric("smg_worker_health_checks_total", result="failure") >= 2


def test_worker_restarted_is_purged_from_the_trees(gateway, worker):
    a, b = worker(), worker()
    g = gateway([a, b], "--health-check-interval-secs", "1", "--health-failure-threshold", "1",
                "--health-success-threshold", "1", policy="cache_aware")
    prompt = "a prompt that one worker holds until it is restarted " * 4
    home = next(w for w in (a, b) if w.url == g.chat(prompt).worker)
    home.stop()
    until(lambda: not g.worker(home)["is_healthy"], 10)
    home.start()
    until(lambda: g.worker(home)["is_healthy"], 10)
    before = g.branches()["expected_wait_fallback"]
    g.chat(prompt)
    assert g.branches()["expected_wait_fallback"] == before + 1


def test_health_endpoint_can_be_named(gateway, worker):
    w = worker(lambda x: x.respond(200 if x.path == "/alive" else 404, b"{}"))
    w.healthy = False
    g = gateway([w], "--health-check-endpoint", "/alive")
    assert g.get("/readiness").status == 200


def test_without_health_checks_every_worker_counts_as_ready(gateway, worker):
    w = worker()
    w.healthy = False
    g = gateway([w], "--disable-health-check")
    assert g.chat().status == 200
    assert not [x for x in w.probes if x.path == "/health"]


def test_failed_worker_is_removed_only_when_asked(gateway, worker):
    flags = ["--health-check-interval-secs", "1", "--health-failure-threshold", "1"]
    w = worker()
    g = gateway([w], *flags, "--remove-unhealthy-workers")
    w.healthy = False
    until(lambda: not g.workers(), 20, "the removal")


# Circuit breaker.


def test_breaker_opens_half_opens_and_closes(gateway, worker):
    failing = [True]
    w = worker(lambda x: x.respond(500 if failing[0] else 200, b"{}"))
    g = gateway([w], "--disable-retries", "--cb-failure-threshold", "3", "--cb-success-threshold", "2",
                "--cb-timeout-duration-secs", "1")
    for _ in range(3):
        assert g.chat().status == 500
    assert g.metric("smg_worker_cb_state", worker=w.url) == 1
    response = g.chat()
    assert (response.status, response.get("x-smg-error-code")) == (503, "no_available_workers")
    assert len(w.requests) == 3
    assert g.get("/readiness").status == 200
    failing[0] = False
    until(lambda: g.chat().status == 200, 5, "a trial request")
    assert g.chat().status == 200
    until(lambda: g.metric("smg_worker_cb_state", worker=w.url) == 0, 5, "the breaker's closing")
    metrics = g.metrics()
    assert metrics.value("smg_worker_cb_transitions_total", worker=w.url) == 3
    assert metrics.value("smg_worker_cb_outcomes_total", worker=w.url, outcome="failure") == 3


def test_breaker_opens_again_at_a_failed_trial(gateway, worker):
    w = worker(lambda x: x.respond(500, b"{}"))
    g = gateway([w], "--disable-retries", "--cb-failure-threshold", "2", "--cb-timeout-duration-secs", "1")
    for _ in range(2):
        g.chat()
    until(lambda: len(w.requests) == 3 or not g.chat(), 5, "a trial request")
    assert g.chat().status == 503
    assert len(w.requests) == 3


@pytest.mark.parametrize("status", [400, 408, 429, 503])
def test_these_answers_do_not_open_the_breaker(gateway, worker, status):
    w = worker(lambda x: x.respond(status, b"{}"))
    g = gateway([w], "--disable-retries", "--cb-failure-threshold", "2")
    for _ in range(6):
        assert g.chat().status == status
    assert len(w.requests) == 6


def test_clients_that_leave_do_not_open_the_breaker(gateway, worker):
    w = worker(lambda x: x.gone(5))
    g = gateway([w], "--disable-retries", "--cb-failure-threshold", "2")
    for i in range(4):
        with g.client() as client:
            client.send(encode("POST", CHAT, body=chat_body()))
            until(lambda: len(w.requests) == i + 1, 5)
    g.wait_idle()
    assert g.metric("smg_worker_cb_state", worker=w.url) == 0


def test_streams_that_the_worker_cuts_open_the_breaker(gateway, worker):
    def handler(x):
        x.begin()
        x.event("one")
        x.close()

    w = worker(handler)
    g = gateway([w], "--cb-failure-threshold", "2")
    for _ in range(2):
        with g.client() as client:
            client.send(encode("POST", CHAT, body=chat_body(stream=True)))
            with pytest.raises(Truncated):
                list(client.pieces(client.read_head()))
    until(lambda: g.metric("smg_worker_cb_state", worker=w.url) == 1, 5)
    assert g.chat().status == 503


def test_breaker_can_be_disabled(gateway, worker):
    w = worker(lambda x: x.respond(500, b"{}"))
    g = gateway([w], "--disable-retries", "--cb-failure-threshold", "2", "--disable-circuit-breaker")
    assert [g.chat().status for _ in range(6)] == [500] * 6


# Retries.


def test_retries_are_the_total_number_of_attempts(gateway, worker):
    w = worker(lambda x: x.respond(500, b"{}"))
    g = gateway([w], "--retry-max-retries", "3", "--retry-initial-backoff-ms", "50", "--retry-backoff-multiplier", "2",
                "--retry-jitter-factor", "0")
    response = g.chat()
    assert response.status == 500 and len(w.requests) == 3
    assert 0.15 <= response.seconds < 0.6, "50 and 100 ms of back-off"
    assert len({x.get("x-request-id") for x in w.requests}) == 1


@pytest.mark.parametrize("status, attempts", [(400, 1), (404, 1), (501, 1), (408, 2), (429, 2), (500, 2), (502, 2),
                                              (503, 2), (504, 2)])
def test_which_answers_are_retried(gateway, worker, status, attempts):
    w = worker(lambda x: x.respond(status, b"{}"))
    g = gateway([w], "--retry-max-retries", "2", "--retry-initial-backoff-ms", "1")
    assert g.chat().status == status
    assert len(w.requests) == attempts


def test_failed_worker_is_avoided_at_once_without_back_off(gateway, worker):
    workers = [worker(lambda x: x.respond(503, b"{}")) for _ in range(4)] + [worker()]
    g = gateway(workers, "--retry-initial-backoff-ms", "5000")
    started = time.monotonic()
    for _ in range(5):
        assert g.chat().status == 200
    assert time.monotonic() - started < 2
    assert max(len(w.requests) for w in workers[:4]) <= 5


# What the registration learns.


@pytest.mark.parametrize("owner", ["vllm", "sglang", "llamacpp"])
def test_engine_is_recognised_by_its_model_list(gateway, worker, owner):
    w = worker(owner=owner)
    g = gateway([w])
    until(lambda: g.worker(w)["runtime_type"] == owner, 10, "the engine's name")


def test_silent_worker_does_not_hold_up_the_others(gateway, worker):
    silent, good = worker(), worker()
    silent.probes_hang = True
    g = gateway([silent, good], ready=False)
    until(lambda: g.chat().status == 200, 3, "an answer of the good one")
    stays(lambda: g.get("/liveness").seconds < 0.5, 0.5, "a quick liveness probe")
