"""Processes that tests start: each with its log file, each ended by its own pid."""

import os
import signal
import subprocess
from pathlib import Path

from .http import fetch
from .ports import free_port
from .wait import until

ROOT = Path(__file__).resolve().parents[3]
SMG = Path(os.environ.get("SMG_BINARY", ROOT / "build/release/smg"))


class Process:
    def __init__(self, command, log: Path, env=None):
        self.log = log
        environment = {k: v for k, v in os.environ.items() if k != "RUST_LOG" and not k.startswith("SMG_")}
        environment.update(env or {})
        with open(log, "ab") as output:
            self.process = subprocess.Popen(
                [str(c) for c in command], stdout=output, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL, env=environment)

    @property
    def pid(self):
        return self.process.pid

    def alive(self):
        return self.process.poll() is None

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait(self, seconds=10.0):
        """Its exit code."""
        return self.process.wait(seconds)

    def kill(self):
        if self.alive():
            self.process.kill()
            self.process.wait()

    def output(self):
        return self.log.read_text(errors="replace")

    def _status_kb(self, field):
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
        raise AssertionError(field)

    def rss_mb(self):
        return self._status_kb("VmRSS") / 1024

    def peak_mb(self):
        return self._status_kb("VmHWM") / 1024

    def reset_peak(self):
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")


class MockWorker(Process):
    """`smg mock-worker`: a simulated engine."""

    def __init__(self, log, model="mock", flags=(), port=None):
        self.port = port or free_port()
        super().__init__([SMG, "mock-worker", "--port", self.port, "--model", model, *flags], log)
        until(lambda: fetch(self.port, "GET", "/health").status == 200, 20, "the mock worker")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


class LlamaServer(Process):
    """llama.cpp's server with the tiny model, as scripts/engines/install puts it there."""

    def __init__(self, log):
        self.port = free_port()
        engines = ROOT / "build/engines"
        super().__init__([engines / "venv/bin/python", ROOT / "scripts/engines/llama_server.py",
                          engines / "tiny.gguf", self.port], log)
        until(lambda: fetch(self.port, "GET", "/health").status == 200, 60, "llama.cpp")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"
