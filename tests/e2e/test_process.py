"""Start, settings, logs, metrics page and shutdown."""

import json
import re
import signal
import socket
import subprocess
import time

import pytest

from support.gateway import CHAT, chat_body
from support.http import encode, fetch
from support.ports import free_port
from support.process import SMG, Process
from support.wait import until


def run(*args, env=None):
    return subprocess.run([SMG, *args], capture_output=True, text=True, timeout=20, env=env)


# The command line.


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version(flag):
    done = run(flag)
    assert done.returncode == 0
    assert re.fullmatch(r"smg \d+\.\d+\.\d+\n", done.stdout)


def test_help_is_grouped_and_names_every_flag():
    done = run("launch", "--help")
    assert done.returncode == 0
    for flag in ("""--host --port --worker-urls --api-key --max-payload-size --request-timeout-secs
                 --connect-timeout-secs --shutdown-grace-period-secs --request-id-headers --io-threads --policy
                 --cache-threshold --balance-abs-threshold --balance-rel-threshold --eviction-interval
                 --max-tree-size --block-size --load-monitor-interval --disable-load-monitoring
                 --least-load-kv-pressure-weight --least-load-default-throughput --least-load-mean-prefill-tokens
                 --least-load-max-waiting-requests --health-failure-threshold --health-success-threshold
                 --health-check-timeout-secs --health-check-interval-secs --health-check-endpoint
                 --disable-health-check --cb-failure-threshold --cb-success-threshold --cb-timeout-duration-secs
                 --cb-window-duration-secs --disable-circuit-breaker --retry-max-retries --retry-initial-backoff-ms
                 --retry-max-backoff-ms --retry-backoff-multiplier --retry-jitter-factor --disable-retries
                 --prometheus-host --prometheus-port --log-level --log-json --log-dir""").split():
        assert re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", done.stdout), flag
    headings = re.findall(r"^\S.*$", done.stdout, re.M)
    assert len(headings) >= 6


def test_every_wrong_setting_is_reported_at_once():
    port = free_port()
    done = run("launch", "--port", str(port), "--cache-threshold", "1.5", "--balance-rel-threshold", "0.5",
               "--max-tree-size", "0", "--retry-max-retries", "0", "--policy", "nonsense", "--log-level", "loud",
               "--worker-urls", "ftp://x", "--no-such-flag", "--block-size", "many")
    assert done.returncode == 2
    lines = done.stderr.strip().splitlines()
    expected = {"--cache-threshold": "1.5", "--balance-rel-threshold": "0.5", "--max-tree-size": "0",
                "--retry-max-retries": "0", "--policy": "nonsense", "--log-level": "loud", "--worker-urls": "ftp://x",
                "--no-such-flag": "", "--block-size": "many"}
    for flag, value in expected.items():
        found = [line for line in lines if flag in line]
        assert len(found) == 1, (flag, lines)
        assert value in found[0]
    assert len(lines) <= len(expected) + 1
    with socket.socket() as s:
        assert s.connect_ex(("127.0.0.1", port)) != 0


def test_flags_of_parts_that_are_not_there_are_refused():
    done = run("launch", "--policy", "power_of_two")
    assert done.returncode == 2 and "power_of_two" in done.stderr


def test_aliases_of_flags(gateway):
    g = gateway([], "--cache-match-threshold", "0.5", "--spill-abs-threshold", "1", "--spill-rel-threshold", "2",
                "--eviction-interval-secs", "5", policy="cache_aware")
    assert g.get("/liveness").status == 200


def test_worker_urls_may_be_separated_by_commas(gateway, worker):
    a, b = worker(), worker()
    g = gateway([f"{a.url},{b.url}"], ready=False)
    g.wait_ready(2)


def test_trailing_slash_of_a_worker_url_is_trimmed(gateway, worker):
    w = worker()
    g = gateway([w.url + "/"])
    assert g.chat().worker == w.url
    assert w.requests[0].target == CHAT


def test_port_in_use_is_one_line_and_an_exit_code():
    with socket.socket() as s:
        s.bind(("127.0.0.1", free_port()))
        s.listen()
        port = str(s.getsockname()[1])
        done = run("launch", "--host", "127.0.0.1", "--port", port, "--prometheus-host", "127.0.0.1",
                   "--prometheus-port", str(free_port()))
        assert done.returncode != 0
        assert port in done.stderr + done.stdout
        done = run("launch", "--host", "127.0.0.1", "--port", str(free_port()), "--prometheus-host", "127.0.0.1",
                   "--prometheus-port", port)
        assert done.returncode != 0
        assert port in done.stderr + done.stdout


@pytest.mark.parametrize("host", ["::1", "[::1]", "localhost", "127.0.0.1"])
def test_host_takes_names_and_ipv6(gateway, worker, host):
    w = worker(host="::1")
    g = gateway([w], host=host)
    assert g.chat().worker == w.url
    assert w.requests[0].all("host") == [f"[::1]:{w.port}"]


@pytest.mark.parametrize("hanging", [False, True], ids=["dead", "silent"])
def test_it_listens_within_200_ms_whatever_the_workers_do(started, tmp_path, worker, hanging):
    if hanging:
        urls = []
        for _ in range(4):
            w = worker()
            w.probes_hang = True
            urls.append(w.url)
    else:
        urls = [f"http://127.0.0.1:{free_port()}" for _ in range(20)] + ["http://no-such-host.invalid:1"]
    best = 10.0
    for attempt in range(3):
        port = free_port()
        begun = time.monotonic()
        process = Process([SMG, "launch", "--host", "127.0.0.1", "--port", port, "--prometheus-host", "127.0.0.1",
                           "--prometheus-port", free_port(), "--worker-urls", *urls], tmp_path / f"{attempt}.log")
        try:
            until(lambda: fetch(port, "GET", "/liveness").status == 200, 5)
            best = min(best, time.monotonic() - begun)
        finally:
            process.kill()
    assert best < 0.2


# Shutdown.


def test_sigterm_drains_running_requests(gateway, worker):
    def handler(x):
        x.begin()
        for i in range(10):
            x.event(str(i))
            time.sleep(0.2)
        x.end()

    g = gateway([worker(handler)], "--shutdown-grace-period-secs", "10")
    with g.client() as client:
        client.send(encode("POST", CHAT, body=chat_body(stream=True)))
        head = client.read_head()
        g.signal(signal.SIGTERM)
        until(lambda: g.get("/readiness").status == 503, 1, "not being ready")
        assert g.get("/readiness").json() == {"status": "not ready", "reason": "draining"}
        assert g.get("/liveness").status == 200
        assert b"".join(client.pieces(head)).count(b"data:") == 10
    assert g.wait(8) == 0


def test_new_requests_are_served_while_it_settles(gateway, worker):
    g = gateway([worker()], "--shutdown-grace-period-secs", "4")
    g.signal(signal.SIGTERM)
    until(lambda: g.get("/readiness").status == 503, 1)
    assert g.chat().status == 200
    assert g.wait(6) == 0


def test_grace_period_bounds_the_drain(gateway, worker):
    def handler(x):
        x.begin()
        x.event("one")
        x.gone(30)

    g = gateway([worker(handler)], "--shutdown-grace-period-secs", "2")
    with g.client() as client:
        client.send(encode("POST", CHAT, body=chat_body(stream=True)))
        client.read_head()
        g.signal(signal.SIGTERM)
        begun = time.monotonic()
        assert g.wait(6) == 0
        assert 1.5 < time.monotonic() - begun < 4


def test_second_signal_ends_it_at_once(gateway, worker):
    g = gateway([worker(lambda x: x.gone(30))], "--shutdown-grace-period-secs", "60")
    with g.client() as client:
        client.send(encode("POST", CHAT, body=chat_body()))
        until(lambda: g.load() == 1, 5)
        g.signal(signal.SIGTERM)
        until(lambda: g.get("/readiness").status == 503, 1)
        g.signal(signal.SIGTERM)
        begun = time.monotonic()
        g.wait(3)
        assert time.monotonic() - begun < 1


def test_idle_gateway_closes_idle_connections_and_ends(gateway, worker):
    g = gateway([worker()], "--shutdown-grace-period-secs", "1")
    with g.client() as client:
        assert client.request("GET", "/liveness").status == 200
        g.signal(signal.SIGTERM)
        assert g.wait(3) == 0
        assert client.ended(1)


# Logs.


def test_each_request_has_one_access_log_line(gateway, worker):
    g = gateway([worker()])
    ids = [g.chat().get("x-request-id"), g.chat(model="zz").get("x-request-id"), g.get("/nowhere").get("x-request-id"),
           g.post(CHAT, b"{").get("x-request-id")]
    for identity, status in zip(ids, (200, 404, 404, 400)):
        lines = until(lambda: g.lines(identity), 5, "the line")
        access = [line for line in lines if "smg::response" in line or "smg::request" in line or str(status) in line]
        assert len(access) == 1, lines
        assert str(status) in access[0]


def test_probes_are_not_logged_at_info(gateway):
    g = gateway()
    ids = [g.get(path).get("x-request-id") for path in ("/liveness", "/health", "/readiness")]
    marker = g.get("/nowhere").get("x-request-id")
    until(lambda: g.lines(marker), 5)
    assert not [i for i in ids if g.lines(i)]


def test_request_ids_cannot_forge_log_lines(gateway, worker):
    g = gateway([worker()])
    g.chat(headers={"X-Request-Id": "a\tb\x1b[31m", "User-Agent": "x\x1b[31m"})
    g.get("/%0aINFO-forged\x80")
    g.chat(model="line\nINFO forged")
    time.sleep(0.2)
    assert not [line for line in g.output().splitlines() if line.startswith("INFO")]
    assert "\x1b" not in g.output()


def test_json_log_lines_are_json(gateway, worker):
    g = gateway([worker()], "--log-json", policy="cache_aware",
                env={"RUST_LOG": "info,smg::policies::cache_aware=debug"})
    identity = g.chat('quote " and \\ and \u00e9').get("x-request-id")
    until(lambda: g.lines(identity) and g.lines("Cache-aware selection"), 5)
    documents = [json.loads(line) for line in g.output().splitlines() if line.strip()]
    assert all({"timestamp", "level", "message"} <= set(d) for d in documents)
    decision = next(d for d in documents if "Cache-aware selection" in d["message"])
    assert decision["branch"] == "expected_wait_fallback" and decision["model_id"] == "m"
    assert decision["target"] == "smg::policies::cache_aware"


def test_log_level_is_obeyed(gateway, worker):
    g = gateway([worker()], "--log-level", "error")
    assert g.chat().status == 200
    assert g.output().strip() == ""


def test_log_dir_gets_a_file(gateway, worker, tmp_path):
    folder = tmp_path / "logs" / "deep"
    g = gateway([worker()], "--log-dir", str(folder))
    identity = g.chat().get("x-request-id")
    until(lambda: any(identity in f.read_text() for f in folder.iterdir()), 5, "the line in a file")
    assert [f.name for f in folder.iterdir() if f.name.startswith("smg")]


def test_no_colour_outside_a_terminal(gateway, worker):
    g = gateway([worker()])
    g.chat()
    assert "\x1b[" not in g.output()


# Metrics.

HTTP_METRICS = {
    "smg_http_requests_total": "counter", "smg_http_request_duration_seconds": "histogram",
    "smg_http_responses_total": "counter", "smg_http_connections_active": "gauge",
}
ROUTER_METRICS = {
    "smg_router_requests_total": "counter", "smg_router_request_duration_seconds": "histogram",
    "smg_router_request_errors_total": "counter", "smg_router_upstream_responses_total": "counter",
}
WORKER_METRICS = {
    "smg_worker_selection_total": "counter", "smg_worker_errors_total": "counter",
    "smg_worker_retries_total": "counter", "smg_worker_retries_exhausted_total": "counter",
    "smg_worker_requests_active": "gauge", "smg_worker_health": "gauge", "smg_worker_health_checks_total": "counter",
    "smg_worker_pool_size": "gauge", "smg_worker_cb_state": "gauge", "smg_worker_cb_transitions_total": "counter",
    "smg_worker_cb_outcomes_total": "counter", "smg_worker_cb_consecutive_failures": "gauge",
    "smg_worker_cb_consecutive_successes": "gauge",
}
CACHE_METRICS = {
    "smg_cache_tree_chars": "gauge", "smg_cache_tree_tokens": "gauge", "smg_cache_tree_tenants": "gauge",
    "smg_cache_aware_policy_branch_total": "counter", "smg_cache_aware_match_ratio": "histogram",
}
ENGINE_METRICS = {
    f"smg_engine_{name}": "gauge" for name in ("running_requests", "waiting_requests", "token_usage", "gen_throughput",
                                               "cache_hit_rate")
}
OTHER_METRICS = {"smg_router_upstream_send_retries_total": "counter", "smg_worker_retry_backoff_seconds": None}


def test_every_metric_is_there_with_help_and_type(gateway, worker):
    failing = [True]

    def handler(x):
        x.respond(500 if failing[0] else 400 if x.text == "bad" else 200, b"{}")

    w = worker(handler)
    w.loads = {"loads": [{"dp_rank": 0, "gen_throughput": 10.0, "token_usage": 0.5, "num_running_reqs": 1,
                          "cache_hit_rate": 0.5}]}
    g = gateway([w], "--eviction-interval", "1", "--load-monitor-interval", "1", "--retry-max-retries", "2",
                "--retry-initial-backoff-ms", "1", "--cb-failure-threshold", "2", "--cb-timeout-duration-secs", "1",
                "--cb-success-threshold", "1", policy="cache_aware")
    g.chat("fails twice and opens the breaker")
    failing[0] = False
    until(lambda: g.chat("a good one").status == 200, 5)
    g.chat("bad")
    until(lambda: g.metric("smg_cache_tree_chars") > 0 and g.metric("smg_engine_gen_throughput") > 0, 5)
    metrics = g.metrics()
    for name, kind in {**HTTP_METRICS, **ROUTER_METRICS, **WORKER_METRICS, **CACHE_METRICS, **ENGINE_METRICS,
                       **OTHER_METRICS}.items():
        assert metrics.helps.get(name), f"{name} has no HELP"
        assert name in metrics.types, f"{name} has no TYPE"
        if kind:
            assert metrics.types[name] == kind, name
    for name in [*HTTP_METRICS, *ROUTER_METRICS, *WORKER_METRICS, *CACHE_METRICS, *ENGINE_METRICS]:
        suffix = "_count" if metrics.types[name] == "histogram" else ""
        assert metrics.labels(name + suffix), f"{name} has no series"


def test_labels_of_the_metrics(gateway, worker):
    w = worker()
    g = gateway([w], policy="cache_aware")
    g.chat()
    g.chat(stream=True)
    g.get("/nowhere")
    g.get("/workers/" + g.worker(w)["id"])
    metrics = g.metrics()
    assert metrics.value("smg_http_requests_total", method="POST", path=CHAT) == 2
    assert metrics.value("smg_http_responses_total", path=CHAT, status_code="200", error_code="") == 2
    assert metrics.value("smg_http_responses_total", path="other", status_code="404", error_code="route_not_found") == 1
    assert metrics.value("smg_http_requests_total", path="/workers/{id}") == 1
    assert metrics.value("smg_http_request_duration_seconds_count", method="POST", path=CHAT) == 2
    common = {"router_type": "http", "backend_type": "regular", "connection_mode": "http", "model": "m",
              "endpoint": "chat"}
    assert metrics.value("smg_router_requests_total", streaming="true", **common) == 1
    assert metrics.value("smg_router_requests_total", streaming="false", **common) == 1
    assert metrics.value("smg_router_request_duration_seconds_count", **common) == 2
    assert metrics.value("smg_router_upstream_responses_total", status_code="200") == 2
    assert metrics.value("smg_worker_selection_total", model="m", policy="cache_aware") == 2
    assert metrics.value("smg_worker_pool_size", model="m") == 1
    assert metrics.value("smg_worker_requests_active", worker=w.url) == 0
    assert metrics.value("smg_worker_cb_outcomes_total", worker=w.url, outcome="success") == 2


def test_requests_in_flight_are_shown(gateway, worker):
    w = worker(lambda x: x.gone(20))
    g = gateway([w])
    with g.client() as client:
        client.send(encode("POST", CHAT, body=chat_body()))
        until(lambda: g.metric("smg_worker_requests_active", worker=w.url) == 1, 5)
        assert g.metric("smg_http_connections_active") >= 1
    until(lambda: g.metric("smg_worker_requests_active", worker=w.url) == 0, 5)


def test_series_of_a_removed_worker_disappear(gateway, worker):
    w, other = worker(), worker()
    g = gateway([w, other], "--drain-settle-secs", "0", policy="cache_aware")
    for i in range(10):
        g.chat(f"{i} spread")
    assert w.url in g.metrics().text
    g.request("DELETE", f"/workers/{g.worker(w)['id']}")
    until(lambda: w.url not in g.metrics().text, 10, "the series' disappearing")
    assert other.url in g.metrics().text


def test_label_values_come_from_bounded_sets(gateway, worker):
    g = gateway([worker()])
    for i in range(50):
        g.get(f"/nowhere/{i}")
        g.chat(model=f"invented-{i}")
        g.request(f"METHOD{i}", "/liveness")
    text = g.metrics().text
    assert "nowhere/1" not in text and "invented-1" not in text and "METHOD1" not in text


def test_metrics_page(gateway):
    g = gateway()
    response = fetch(g.metrics_port, "GET", "/metrics")
    assert response.get("content-type").startswith("text/plain; version=0.0.4")
    assert fetch(g.metrics_port, "GET", "/other").status == 404
    assert g.get("/metrics").status == 404
