"""Which worker a request goes to, seen from outside."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.gateway import CHAT, chat_body
from support.http import encode
from support.scripted import answer_chat
from support.wait import until


class Holding:
    """A handler that holds requests whose text starts with "hold" until let go."""

    def __init__(self):
        self.held = threading.Semaphore(0)
        self.leave = threading.Event()

    def __call__(self, x):
        if x.path == CHAT and x.text.startswith("hold"):
            self.held.release()
            self.leave.wait(60)
        answer_chat(x)


@pytest.fixture
def holding():
    made = Holding()
    yield made
    made.leave.set()


def hold(g, text):
    """Sends a chat that its worker holds, and returns the connection."""
    client = g.client()
    client.send(encode("POST", CHAT, body=chat_body(text)))
    return client


LONG = "the quick brown fox jumps over the lazy dog and runs away "


def test_same_chat_twice_goes_to_the_same_worker(gateway, worker):
    g = gateway([worker(), worker()], policy="cache_aware")
    first = g.chat(LONG)
    assert g.branches()["expected_wait_fallback"] == 1
    second = g.chat(LONG)
    assert first.worker == second.worker
    branches = g.branches()
    assert branches["expected_wait_fallback"] == 1 and branches["tree_match"] == 1


def test_follow_up_turns_stay_with_the_worker_of_the_first(gateway, worker):
    workers = [worker() for _ in range(4)]
    g = gateway(workers, policy="cache_aware")
    for conversation in range(12):
        messages = [{"role": "system", "content": f"{conversation} rules " + LONG},
                    {"role": "user", "content": "first question"}]
        homes = set()
        for _ in range(4):
            homes.add(g.post(CHAT, {"model": "m", "messages": messages}).worker)
            messages += [{"role": "assistant", "content": "an answer"}, {"role": "user", "content": "and then?"}]
        assert len(homes) == 1


@pytest.mark.parametrize("shared, branch", [(50, "expected_wait_fallback"), (51, "tree_match")])
def test_match_ratio_must_exceed_the_threshold(gateway, worker, shared, branch):
    g = gateway([worker(), worker()], "--cache-threshold", "0.5", policy="cache_aware")
    g.chat("a" * 100)
    before = g.branches().get(branch, 0)
    g.chat("a" * shared + "b" * (100 - shared))
    assert g.branches()[branch] == before + 1


def test_characters_are_counted_as_unicode_scalars(gateway, worker):
    g = gateway([worker(), worker()], "--cache-threshold", "0.5", policy="cache_aware")
    g.chat("é世😀" * 10 + "x" * 20)
    # 30 of 60 scalars are shared, but 90 of 120 bytes.
    g.chat("é世😀" * 10 + "y" * 30)
    assert g.branches()["expected_wait_fallback"] == 2


IDS = ",".join(str(i) for i in range(1, 21))


@pytest.mark.parametrize("value", [
    "1,2,,3," + IDS, IDS + ",", "+1," + IDS, "1, 2," + IDS, "0x1," + IDS, "4294967296," + IDS,
    ",".join(["7"] * 513),
    ",".join(["2147483647"] * 372) + ",12345",
], ids=["empty piece", "trailing comma", "sign", "blank", "hex", "too large", "513 ids", "4097 bytes"])
def test_malformed_routing_tokens_are_ignored(gateway, worker, value):
    if value.endswith(",12345"):
        assert len(value) == 4097
    w = worker()
    g = gateway([w], policy="cache_aware")
    for i in range(2):
        assert g.chat(f"{i} is not like the other", headers={"x-smg-routing-tokens": value}).status == 200
    assert g.branches().get("tree_match", 0) == 0
    assert not w.requests[0].all("x-smg-routing-tokens")


@pytest.mark.parametrize("value", [
    ",".join(["5"] * 16), ",".join(["7"] * 512), ",".join(["2147483647"] * 372) + ",1234",
    "  " + IDS + "  ",
], ids=["one page", "512 ids", "4096 bytes", "white space around the value"])
def test_routing_tokens_take_the_place_of_the_text(gateway, worker, value):
    if value.endswith(",1234"):
        assert len(value) == 4096
    workers = [worker(), worker()]
    g = gateway(workers, policy="cache_aware")
    served = {g.chat(f"{i} is not like the others", headers={"x-smg-routing-tokens": value}).worker for i in range(6)}
    assert len(served) == 1
    assert g.branches()["tree_match"] == 5
    assert not [x for w in workers for x in w.requests if x.all("x-smg-routing-tokens")]


def test_fewer_tokens_than_a_page_never_match(gateway, worker):
    g = gateway([worker(), worker()], policy="cache_aware")
    for _ in range(2):
        g.post("/generate", {"model": "m", "input_ids": list(range(15))})
    assert g.branches().get("tree_match", 0) == 0


def test_generate_routes_by_ids_and_leaves_the_text_tree_alone(gateway, worker):
    g = gateway([worker(lambda x: x.respond(200, {"text": "ok"})) for _ in range(2)],
                "--eviction-interval", "1", policy="cache_aware")
    ids = list(range(1000, 1064))
    served = {g.post("/generate", {"model": "m", "input_ids": ids, "text": f"{i} other text"}).worker
              for i in range(6)}
    assert len(served) == 1
    until(lambda: g.metric("smg_cache_tree_tokens", model="m") == 64, 5, "64 tokens in the tree")
    assert g.metric("smg_cache_tree_chars", model="m") == 0
    assert g.branches()["tree_match"] == 5


def test_generate_without_a_model_goes_to_any_worker_and_shares_the_tree(gateway, worker):
    g = gateway([worker(lambda x: x.respond(200, {})) for _ in range(2)], policy="cache_aware")
    ids = list(range(64))
    first = g.post("/generate", {"model": "m", "input_ids": ids})
    second = g.post("/generate", {"input_ids": ids})
    assert (first.status, second.status) == (200, 200)
    assert first.worker == second.worker


def test_first_sequence_of_a_batch_decides(gateway, worker):
    g = gateway([worker(lambda x: x.respond(200, {})) for _ in range(2)], policy="cache_aware")
    first = list(range(32))
    served = {g.post("/generate", {"model": "m", "input_ids": [first, [i] * 64]}).worker for i in range(6)}
    assert len(served) == 1


def test_prefix_of_a_hot_worker_spills_and_replicates(gateway, worker, holding):
    g = gateway([worker(holding), worker(holding)], "--balance-abs-threshold", "0", "--balance-rel-threshold", "1.0",
                policy="cache_aware")
    prefix = "hold " + LONG * 5
    standing = hold(g, prefix + "one")
    assert holding.held.acquire(timeout=5)
    home = next(w["url"] for w in g.workers() if w["load"] == 1)
    # The holder has one request, the mean is a half: both margins are exceeded.
    spilled = hold(g, prefix + "two")
    assert holding.held.acquire(timeout=5)
    other = next(w["url"] for w in g.workers() if w["url"] != home)
    assert g.worker(other)["load"] == 1
    assert g.branches()["spill"] == 1
    holding.leave.set()
    assert (standing.read().worker, spilled.read().worker) == (home, other)
    g.wait_idle()
    # Both hold the prefix now, so neither of them is a spill.
    served = set()
    for i in range(20):
        served.add(g.chat(prefix + f"{i} further").worker)
        g.wait_idle()  # the gate is set so tight that a request which is just ending counts
    assert served == {home, other}
    assert g.branches()["spill"] == 1
    standing.close()
    spilled.close()


def test_below_both_margins_the_holder_keeps_its_prefix(gateway, worker, holding):
    g = gateway([worker(holding), worker(holding)], policy="cache_aware")
    prefix = "hold " + LONG * 5
    clients = []
    for i in range(8):
        clients.append(hold(g, prefix + str(i)))
        assert holding.held.acquire(timeout=5)
    assert sorted(w["load"] for w in g.workers()) == [0, 8]
    holding.leave.set()
    for client in clients:
        assert client.read().status == 200
        client.close()


def test_removed_worker_is_purged_from_the_trees_at_once(gateway, worker):
    workers = [worker(), worker()]
    g = gateway(workers, "--eviction-interval", "1", "--drain-settle-secs", "0", policy="cache_aware")
    until(lambda: g.chat(LONG * 2).worker and len({g.chat(f"{i} " + LONG).worker for i in range(20)}) == 2)
    until(lambda: g.metric("smg_cache_tree_tenants", model="m", tree="string") == 2, 5, "two tenants")
    home = g.chat(LONG * 2).worker
    g.request("DELETE", f"/workers/{g.worker(home)['id']}")
    until(lambda: len(g.workers()) == 1, 5, "the removal")
    before = g.branches()
    assert g.chat(LONG * 2).worker != home
    assert g.branches()["expected_wait_fallback"] == before["expected_wait_fallback"] + 1
    until(lambda: g.metric("smg_cache_tree_tenants", model="m", tree="string") == 1, 5, "one tenant less")


def test_tree_is_within_its_budget_after_a_sweep_and_keeps_the_newest(gateway, worker):
    g = gateway([worker(), worker()], "--max-tree-size", "1000", "--eviction-interval", "1", policy="cache_aware")
    prompts = [f"{i:02d}" * 50 for i in range(10, 60)]
    for prompt in prompts:
        assert len(prompt) == 100
        g.chat(prompt)
    until(lambda: 0 < g.metric("smg_cache_tree_chars", model="m") <= 1000, 5, "the sweep")
    before = g.branches()
    g.chat(prompts[-1])
    g.chat(prompts[0])
    after = g.branches()
    assert after["tree_match"] == before.get("tree_match", 0) + 1
    assert after["expected_wait_fallback"] == before["expected_wait_fallback"] + 1


def test_models_have_trees_of_their_own(gateway, worker):
    g = gateway([worker(model="a"), worker(model="b")], policy="cache_aware")
    assert g.chat(LONG, model="a").worker != g.chat(LONG, model="b").worker
    assert g.branches()["expected_wait_fallback"] == 2


def test_flush_cache_forgets_the_prefixes(gateway, worker):
    workers = [worker(lambda x: x.respond(200, {}) if x.path == "/flush_cache" else answer_chat(x)) for _ in range(2)]
    g = gateway(workers, policy="cache_aware")
    g.chat(LONG)
    assert g.post("/flush_cache", None).status == 200
    assert all(w.requests[-1].path == "/flush_cache" for w in workers)
    g.chat(LONG)
    assert g.branches().get("tree_match", 0) == 0


def test_retry_of_an_affine_request_takes_another_worker(gateway, worker):
    failing = threading.Event()

    def handler(x):
        x.respond(500, b"{}") if failing.is_set() and x.worker is home else answer_chat(x)

    workers = [worker(handler) for _ in range(3)]
    home = None
    g = gateway(workers, policy="cache_aware")
    url = g.chat(LONG).worker
    home = next(w for w in workers if w.url == url)
    failing.set()
    for _ in range(3):
        response = g.chat(LONG)
        assert response.status == 200 and response.worker != url


# Load.


def chi_square(counts):
    expected = sum(counts) / len(counts)
    return sum((c - expected) ** 2 / expected for c in counts)


@pytest.mark.parametrize("policy", ["least_load", "random"])
def test_ties_are_broken_at_random(gateway, worker, policy):
    workers = [worker() for _ in range(4)]
    g = gateway(workers, policy=policy)
    served = []
    with g.client() as client:
        for i in range(1000):
            served.append(client.request("POST", CHAT, body=chat_body(str(i))).worker)
    # Three degrees of freedom: above 30 once in 10^6 runs. Strict rotation would give 0.
    assert chi_square([served.count(w.url) for w in workers]) < 30
    turns = {(a, b) for a, b in zip(served, served[1:])}
    assert len(turns) == 16, "every worker follows every other"


def test_least_load_without_reports_joins_the_shortest_queue(gateway, worker, holding):
    g = gateway([worker(holding) for _ in range(4)], policy="least_load")
    clients = []
    for i in range(12):
        clients.append(hold(g, f"hold {i}"))
        assert holding.held.acquire(timeout=5)
    assert [w["load"] for w in g.workers()] == [3, 3, 3, 3]
    holding.leave.set()
    for client in clients:
        assert client.read().status == 200
        client.close()


def test_round_robin_takes_turns(gateway, worker):
    workers = [worker() for _ in range(3)]
    g = gateway(workers, "--io-threads", "1")
    served = [g.chat().worker for _ in range(9)]
    assert len(set(served[:3])) == 3
    assert served[3:] == served[:3] * 2


def test_passthrough_uses_the_first_worker(gateway, worker):
    workers = [worker(), worker()]
    g = gateway(workers, policy="passthrough")
    assert {g.chat().worker for _ in range(6)} == {workers[0].url}


def report(throughput, usage, waiting=0, running=0):
    return {"loads": [{"dp_rank": 0, "num_running_reqs": running, "num_waiting_reqs": waiting,
                       "num_waiting_uncached_tokens": waiting * 500, "gen_throughput": throughput,
                       "token_usage": usage, "max_total_num_tokens": 100000}]}


@pytest.mark.parametrize("policy", ["least_load", "cache_aware"])
def test_an_idle_engine_is_not_taken_for_a_slow_one(gateway, worker, policy):
    idle, busy = worker(), worker()
    idle.loads, busy.loads = report(40, 0.02), report(3000, 0.5, running=60)
    g = gateway([idle, busy], policy=policy)
    until(lambda: len(g.get("/get_loads").json()["loads"]) == 2, 15, "two load reports")
    with ThreadPoolExecutor(8) as pool:
        served = list(pool.map(lambda i: g.chat(f"{i * 7919} " + f"{i} " * 300).worker, range(160)))
    assert served.count(busy.url) <= 80


def test_a_waiting_queue_is_avoided(gateway, worker):
    empty, queued = worker(), worker()
    empty.loads, queued.loads = report(1000, 0.3), report(1000, 0.3, waiting=20)
    g = gateway([empty, queued], policy="least_load")
    until(lambda: len(g.get("/get_loads").json()["loads"]) == 2, 15, "two load reports")
    assert {g.chat(f"short {i}").worker for i in range(20)} == {empty.url}


def test_a_burst_between_two_reports_is_spread(gateway, worker):
    workers = [worker() for _ in range(4)]
    for w in workers:
        w.loads = report(2000, 0.1)
    g = gateway(workers, "--load-monitor-interval", "60", policy="cache_aware")
    until(lambda: len(g.get("/get_loads").json()["loads"]) == 4, 15, "four load reports")
    served = [g.chat(f"{i * 7919} " + f"{i} " * 500).worker for i in range(40)]
    assert min(served.count(w.url) for w in workers) >= 8


def test_load_reports_are_shown(gateway, worker):
    w = worker()
    w.loads = {"loads": [{"dp_rank": 0, "num_running_reqs": 3, "num_waiting_reqs": 2, "num_used_tokens": 1234,
                          "num_waiting_uncached_tokens": 500, "max_total_num_tokens": 10000, "token_usage": 0.1234,
                          "gen_throughput": 111.5, "cache_hit_rate": 0.4, "utilization": 0.5,
                          "max_running_requests": 64}]}
    g = gateway([w], policy="cache_aware")
    until(lambda: g.get("/get_loads").json()["loads"], 15, "a load report")
    for path in ("/get_loads", "/loads", "/loads?model=m"):
        document = g.get(path).json()
        row = document["loads"][0]
        assert row["worker"] == w.url and row["num_running_reqs"] == 3
        assert row["gen_throughput"] == 111.5 and row["token_usage"] == 0.1234
        assert document["aggregate"]["total_reqs"] == 5
    assert g.get("/loads?model=other").json()["loads"] == []
    assert "aggregate" not in g.get("/loads?model=other").json()
    until(lambda: g.metric("smg_engine_running_requests", worker=w.url) == 3, 5)
    assert g.metric("smg_engine_waiting_requests", worker=w.url) == 2
    assert g.metric("smg_engine_token_usage", worker=w.url) == 0.1234
    assert g.metric("smg_engine_gen_throughput", worker=w.url) == 111.5
    assert g.metric("smg_engine_cache_hit_rate", worker=w.url) == 0.4


# What is logged.


def test_each_tree_decision_is_logged_when_asked_for(gateway, worker):
    g = gateway([worker()], policy="cache_aware", env={"RUST_LOG": "info,smg::policies::cache_aware=debug"})
    g.chat(LONG)
    home = g.chat(LONG).worker
    until(lambda: len(g.lines("Cache-aware selection")) == 2, 5, "two lines")
    miss, hit = g.lines("Cache-aware selection")
    for line in (miss, hit):
        for part in ("smg::policies::cache_aware", "model_id", "matched_ratio", "threshold", "index", "branch", home):
            assert part in line
    assert "expected_wait_fallback" in miss and "tree_match" in hit


def test_tree_decisions_are_not_logged_by_default(gateway, worker):
    g = gateway([worker()], policy="cache_aware")
    g.chat(LONG)
    g.chat(LONG)
    assert not g.lines("Cache-aware selection")


def test_match_ratios_are_in_the_histogram(gateway, worker):
    g = gateway([worker()], policy="cache_aware")
    g.chat("a" * 100)
    g.chat("a" * 85 + "b" * 15)
    metrics = g.metrics()
    assert metrics.types["smg_cache_aware_match_ratio"] == "histogram"
    assert metrics.value("smg_cache_aware_match_ratio_count") == 2
    assert abs(metrics.value("smg_cache_aware_match_ratio_sum") - 0.85) < 1e-6
    assert metrics.value("smg_cache_aware_match_ratio_bucket", le="0.8") == 1
    assert metrics.value("smg_cache_aware_match_ratio_bucket", le="0.9") == 2
    assert len(metrics.labels("smg_cache_aware_match_ratio_bucket")) == 12, "0, 0.1 ... 1 and infinity"
