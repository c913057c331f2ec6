"""Two real llama.cpp servers with a tiny model behind the gateway, driven by real clients. The model's
answers are known: build/engines/script.json."""

import json
import random
import threading

import anthropic
import openai
import pytest
from langchain_openai import ChatOpenAI

from support.gateway import Gateway
from support.process import ROOT
from support.wait import until

pytestmark = pytest.mark.xdist_group("llama")
MODEL = "tiny"
MESSAGES = [{"role": "user", "content": "hello there"}]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
TOOL = {"type": "function", "function": {"name": "get_weather", "description": "The weather", "parameters": SCHEMA}}
CALL = {"city": "Paris", "days": 3}


@pytest.fixture(scope="module")
def plain():
    return json.loads((ROOT / "build/engines/script.json").read_text())["plain"]


@pytest.fixture(scope="module")
def served(llama_servers, tmp_path_factory):
    g = Gateway(tmp_path_factory.mktemp("served") / "gateway.log", llama_servers, policy="cache_aware").wait_ready()
    yield g
    g.finish()


@pytest.fixture(scope="module")
def sdk(served):
    return openai.OpenAI(base_url=f"http://127.0.0.1:{served.port}/v1", api_key="any", max_retries=0, timeout=60)


@pytest.fixture(scope="module")
def claude(served):
    return anthropic.Anthropic(base_url=f"http://127.0.0.1:{served.port}", api_key="any", max_retries=0, timeout=60)


def test_engine_is_recognised(served):
    assert {w["runtime_type"] for w in served.workers()} == {"llamacpp"}
    assert {w["model_id"] for w in served.workers()} == {MODEL}


def test_models(sdk):
    assert [m.id for m in sdk.models.list().data] == [MODEL]


def test_chat(sdk, plain):
    answer = sdk.chat.completions.create(model=MODEL, messages=MESSAGES)
    assert answer.choices[0].message.content == plain and answer.choices[0].finish_reason == "stop"


def test_streamed_chat(sdk, plain):
    text, usage = "", None
    for chunk in sdk.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True,
                                             stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        if chunk.choices:
            text += chunk.choices[0].delta.content or ""
    assert text == plain and usage.completion_tokens > 40


def test_parallel_chats(sdk, plain):
    answers = [None] * 16

    def ask(i):
        answers[i] = sdk.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": f"question {i}"}])

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(answers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(a.choices[0].message.content == plain for a in answers)


def test_tools(sdk):
    answer = sdk.chat.completions.create(model=MODEL, messages=MESSAGES, tools=[TOOL])
    call = answer.choices[0].message.tool_calls[0].function
    assert (call.name, json.loads(call.arguments)) == ("get_weather", CALL)
    assert answer.choices[0].finish_reason == "tool_calls"


def test_streamed_tools(sdk):
    name = arguments = ""
    for chunk in sdk.chat.completions.create(model=MODEL, messages=MESSAGES, tools=[TOOL], stream=True):
        for call in (chunk.choices[0].delta.tool_calls or []) if chunk.choices else []:
            name += call.function.name or ""
            arguments += call.function.arguments or ""
    assert (name, json.loads(arguments)) == ("get_weather", CALL)


def test_completions(sdk, plain):
    assert sdk.completions.create(model=MODEL, prompt="abc", max_tokens=60).choices[0].text == plain
    assert "".join(c.choices[0].text for c in sdk.completions.create(
        model=MODEL, prompt="abc", max_tokens=60, stream=True) if c.choices) == plain


def test_error_classes(sdk):
    with pytest.raises(openai.NotFoundError):
        sdk.chat.completions.create(model="nobody", messages=MESSAGES)
    with pytest.raises(openai.BadRequestError):
        sdk.chat.completions.create(model=MODEL, messages=[{"role": "user"}])
    with pytest.raises(openai.APIStatusError) as error:
        sdk.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "word " * 20000}])
    assert error.value.status_code == 400


def test_client_that_leaves_frees_its_place(sdk, served):
    stream = sdk.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True, max_tokens=3000,
                                         extra_body={"ignore_eos": True})
    next(iter(stream))
    stream.close()
    served.wait_idle(2)


def test_anthropic_messages(claude, plain):
    answer = claude.messages.create(model=MODEL, max_tokens=100, messages=MESSAGES)
    assert "".join(b.text for b in answer.content if b.type == "text") == plain


def test_anthropic_stream(claude, plain):
    with claude.messages.stream(model=MODEL, max_tokens=100, messages=MESSAGES) as stream:
        assert "".join(stream.text_stream) == plain


def test_anthropic_tools(claude):
    tool = {"name": "get_weather", "description": "The weather", "input_schema": SCHEMA}
    answer = claude.messages.create(model=MODEL, max_tokens=100, messages=MESSAGES, tools=[tool])
    assert [b.input for b in answer.content if b.type == "tool_use"] == [CALL]


def test_anthropic_error_class(claude):
    with pytest.raises(anthropic.NotFoundError):
        claude.messages.create(model="nobody", max_tokens=5, messages=MESSAGES)


def test_langchain(served, plain):
    chat = ChatOpenAI(base_url=f"http://127.0.0.1:{served.port}/v1", api_key="any", model=MODEL, max_retries=0)
    assert chat.invoke("hello").content == plain
    assert "".join(part.content for part in chat.stream("hello")) == plain
    assert chat.bind_tools([TOOL]).invoke("weather?").tool_calls[0]["args"] == CALL


CONVERSATIONS, TURNS = 7, 3


def conversation_share(gateway, seed):
    """Runs interleaved conversations; returns (cached share by the engine's own count, ideal share).
    Ideal: all of a turn's prompt that the turn before had, but for the tokens of its end."""
    sdk = openai.OpenAI(base_url=f"http://127.0.0.1:{gateway.port}/v1", api_key="any", max_retries=0, timeout=60)
    rng = random.Random(seed)

    def words(count):
        return " ".join("".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 7))) for _ in range(count))

    histories = [[{"role": "system", "content": words(60)}] for _ in range(CONVERSATIONS)]
    before = [0] * CONVERSATIONS
    prompt = cached = ideal = 0
    for _ in range(TURNS):
        # An odd number of conversations in a fixed order: round robin gives each to both in turn.
        for i, history in enumerate(histories):
            history.append({"role": "user", "content": words(60)})
            answer = sdk.chat.completions.create(model=MODEL, messages=history, max_tokens=8)
            history.append({"role": "assistant", "content": answer.choices[0].message.content})
            usage = answer.usage
            prompt += usage.prompt_tokens
            cached += usage.prompt_tokens_details.cached_tokens
            ideal += before[i]
            before[i] = usage.prompt_tokens
    return cached / prompt, ideal / prompt


def test_follow_up_turns_find_their_prompt_in_the_engines_cache(llama_servers, tmp_path):
    shares = {}
    for seed, policy in enumerate(("cache_aware", "round_robin")):
        g = Gateway(tmp_path / f"{policy}.log", llama_servers, policy=policy, flags=["--io-threads", "1"]).wait_ready()
        try:
            shares[policy], ideal = conversation_share(g, seed)
        finally:
            g.finish()
        if policy == "cache_aware":
            assert shares[policy] >= 0.9 * ideal, (shares, ideal)
    assert shares["round_robin"] < shares["cache_aware"] - 0.15, shares


def test_engine_metrics_are_read(served):
    until(lambda: len(served.get("/get_loads").json()["loads"]) == 2, 15, "load reports of llama.cpp")
