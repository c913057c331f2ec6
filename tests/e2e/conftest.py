"""Fixtures: factories whose products are ended after the test."""

import pytest

from support.gateway import Gateway
from support.process import SMG, LlamaServer, MockWorker
from support.scripted import ScriptedWorker, answer_chat


def pytest_configure(config):
    if not SMG.exists():
        raise pytest.UsageError(f"{SMG} is not there: run scripts/build release smg")


@pytest.fixture
def started(tmp_path):
    """What the test has started, in order. Ended backwards; a gateway must end well."""
    things = []
    yield things
    faults = []
    for thing in reversed(things):
        try:
            thing.finish() if isinstance(thing, Gateway) else thing.stop() if isinstance(
                thing, ScriptedWorker) else thing.kill()
        except AssertionError as fault:
            faults.append(fault)
    if faults:
        raise faults[0]


@pytest.fixture
def gateway(started, tmp_path):
    """gateway(workers, *flags, policy=..., ready=True): a running gateway."""

    def make(workers=(), *flags, ready=True, **kwargs):
        made = Gateway(tmp_path / f"gateway-{len(started)}.log", workers, flags, **kwargs)
        started.append(made)
        return made.wait_ready() if ready and made.expected_workers else made

    return make


@pytest.fixture
def worker(started):
    """worker(handler, model=...): a scripted worker."""

    def make(handler=answer_chat, **kwargs):
        made = ScriptedWorker(handler, **kwargs)
        started.append(made)
        return made

    return make


@pytest.fixture
def mock_worker(started, tmp_path):
    def make(model="mock", *flags):
        made = MockWorker(tmp_path / f"mock-{len(started)}.log", model, flags)
        started.append(made)
        return made

    return make


@pytest.fixture(scope="module")
def llama_servers(tmp_path_factory):
    """Two llama.cpp servers, for a whole module."""
    folder = tmp_path_factory.mktemp("llama")
    servers = [LlamaServer(folder / f"llama-{i}.log") for i in range(2)]
    yield servers
    for server in servers:
        server.kill()
