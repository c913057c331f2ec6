"""The gateway under test: the real binary on free ports."""

import json
import signal
from pathlib import Path

from .http import Client, fetch
from .metrics import Metrics
from .ports import free_port
from .process import SMG, Process
from .wait import until

CHAT = "/v1/chat/completions"


def chat_body(text="x", model="m", **more):
    return {"model": model, "messages": [{"role": "user", "content": text}], **more}


class Gateway(Process):
    """`workers`: objects with a `url`, or URLs. It listens when the constructor returns; wait_ready()
    waits for the workers."""

    def __init__(self, log: Path, workers=(), flags=(), policy="round_robin", env=None, host="127.0.0.1"):
        self.port, self.metrics_port = free_port(), free_port()
        self.host = host.strip("[]")
        urls = [w if isinstance(w, str) else w.url for w in workers]
        command = [SMG, "launch", "--host", host, "--port", self.port, "--prometheus-host", "127.0.0.1",
                   "--prometheus-port", self.metrics_port]
        if policy:
            command += ["--policy", policy]
        if urls:
            command += ["--worker-urls", *urls]
        flags = [str(f) for f in flags]
        if "--shutdown-grace-period-secs" not in flags:
            command += ["--shutdown-grace-period-secs", "0"]
        if "--io-threads" not in flags:
            command += ["--io-threads", "2"]
        self.key = flags[flags.index("--api-key") + 1] if "--api-key" in flags else None
        self.expected_workers = len(urls)
        super().__init__(command + flags, log, env)
        until(self._listens, 15, "the gateway")

    def _listens(self):
        assert self.alive(), self.output()[-2000:]
        return self.get("/liveness").status == 200

    # Requests, each on a connection of its own.
    def client(self, **kwargs):
        return Client(self.port, self.host, **kwargs)

    def request(self, method, target, **kwargs):
        with self.client() as client:
            return client.request(method, target, **kwargs)

    def get(self, target, **kwargs):
        return self.request("GET", target, **kwargs)

    def post(self, target, body, **kwargs):
        return self.request("POST", target, body=body, **kwargs)

    def chat(self, text="x", model="m", headers=(), **more):
        return self.post(CHAT, chat_body(text, model, **more), headers=headers)

    # State.
    def workers(self):
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        return self.get("/workers", headers=headers).json()["workers"]

    def worker(self, url):
        return next(w for w in self.workers() if w["url"] == (url if isinstance(url, str) else url.url))

    def load(self):
        """Requests in flight, over all workers."""
        return sum(w["load"] for w in self.workers())

    def wait_ready(self, count=None, seconds=15):
        count = self.expected_workers if count is None else count
        until(lambda: sum(w["is_healthy"] for w in self.workers()) == count, seconds, f"{count} ready workers")
        # Ready may come a moment before the model's name is known.
        until(lambda: all(w["model_id"] != "unknown" for w in self.workers() if w["is_healthy"]), seconds,
              "the models' names")
        return self

    def wait_idle(self, seconds=5):
        until(lambda: self.load() == 0, seconds, "no request in flight")

    def metrics(self) -> Metrics:
        response = fetch(self.metrics_port, "GET", "/metrics")
        assert response.status == 200, response
        return Metrics(response.body.decode())

    def metric(self, name, **labels):
        return self.metrics().value(name, **labels)

    def branches(self):
        """Counts by branch of the cache-aware decisions."""
        return {labels["branch"]: int(value)
                for labels, value in self.metrics().series("smg_cache_aware_policy_branch_total")}

    def lines(self, text):
        return [line for line in self.output().splitlines() if text in line]

    def add_worker(self, worker, **spec):
        url = worker if isinstance(worker, str) else worker.url
        response = self.post("/workers", json.dumps({"url": url, **spec}))
        assert response.status == 202, response
        return response.json()["worker_id"]

    def finish(self):
        """Ends it, and asserts that it was alive and ends well."""
        if self.process.returncode is not None:
            return
        alive = self.alive()
        if alive:
            self.signal(signal.SIGTERM)
            try:
                code = self.wait(8)
            except Exception:
                self.kill()
                raise AssertionError("the gateway did not end after SIGTERM\n" + self.output()[-2000:]) from None
            assert code == 0, f"exit code {code}\n{self.output()[-3000:]}"
        text = self.output()
        assert "Sanitizer" not in text and "runtime error:" not in text, text[-5000:]
        assert alive, f"the gateway had ended by itself\n{text[-3000:]}"
