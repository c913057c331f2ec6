"""Real clients, unchanged, against two simulated engines: the SDKs of OpenAI and Anthropic, LangChain,
curl and wrk."""

import re
import subprocess

import anthropic
import openai
import pytest
from langchain_openai import ChatOpenAI

from support.gateway import CHAT
from support.http import fetch
from support.wait import until

MODEL = "mock"
MESSAGES = [{"role": "user", "content": "hello there"}]
TOOL = {"type": "function", "function": {
    "name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}


@pytest.fixture
def served(gateway, mock_worker):
    workers = [mock_worker(MODEL, "--ttft-ms", "1", "--tokens-per-s", "2000") for _ in range(2)]
    return gateway(workers, policy="cache_aware")


@pytest.fixture
def sdk(served):
    return openai.OpenAI(base_url=f"http://127.0.0.1:{served.port}/v1", api_key="any", max_retries=0, timeout=20)


@pytest.fixture
def claude(served):
    return anthropic.Anthropic(base_url=f"http://127.0.0.1:{served.port}", api_key="any", max_retries=0, timeout=20)


def test_openai_models(sdk):
    assert [m.id for m in sdk.models.list().data] == [MODEL]


def test_openai_chat(sdk):
    answer = sdk.chat.completions.create(model=MODEL, messages=MESSAGES)
    assert answer.choices[0].message.content and answer.choices[0].finish_reason in ("stop", "length")
    assert answer.usage.prompt_tokens > 0


def test_openai_streamed_chat(sdk):
    text, usage, pieces = "", None, 0
    for chunk in sdk.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True,
                                             stream_options={"include_usage": True}):
        pieces += 1
        usage = chunk.usage or usage
        if chunk.choices:
            text += chunk.choices[0].delta.content or ""
    assert text and pieces > 2 and usage.completion_tokens > 0


def test_openai_repeated_prompt_comes_from_the_cache(sdk):
    long = [{"role": "user", "content": "the same long question " * 100}]
    first, second = (sdk.chat.completions.create(model=MODEL, messages=long).usage for _ in range(2))
    assert first.prompt_tokens_details.cached_tokens == 0
    assert second.prompt_tokens_details.cached_tokens >= 0.9 * second.prompt_tokens


def test_openai_tools_are_accepted(sdk):
    assert sdk.chat.completions.create(model=MODEL, messages=MESSAGES, tools=[TOOL], tool_choice="auto").choices
    called = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    messages = [*MESSAGES, {"role": "assistant", "content": None, "tool_calls": [called]},
                {"role": "tool", "tool_call_id": "c1", "content": "sunny"}]
    assert sdk.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL]).choices


def test_openai_completions(sdk):
    assert sdk.completions.create(model=MODEL, prompt="once upon a time", max_tokens=8).choices[0].text
    text = "".join(c.choices[0].text for c in
                   sdk.completions.create(model=MODEL, prompt="once upon a time", max_tokens=8, stream=True) if c.choices)
    assert text


def test_openai_embeddings(sdk):
    answer = sdk.embeddings.create(model=MODEL, input=["one", "two"])
    assert len(answer.data) == 2 and len(answer.data[0].embedding) > 0


def test_openai_raw_response_names_the_worker(sdk, served):
    raw = sdk.chat.completions.with_raw_response.create(model=MODEL, messages=MESSAGES)
    assert raw.headers["x-smg-routed-worker-id"] in [w["url"] for w in served.workers()]
    assert raw.headers["x-request-id"]


def test_openai_error_classes(sdk, gateway):
    with pytest.raises(openai.NotFoundError) as error:
        sdk.chat.completions.create(model="nobody", messages=MESSAGES)
    assert error.value.code == "model_not_found" and error.value.param == "model"
    with pytest.raises(openai.BadRequestError) as error:
        sdk.chat.completions.create(model=5, messages=MESSAGES)
    assert error.value.code == "invalid_request"
    keyed = gateway([], "--api-key", "right")
    other = openai.OpenAI(base_url=f"http://127.0.0.1:{keyed.port}/v1", api_key="wrong", max_retries=0)
    with pytest.raises(openai.AuthenticationError):
        other.chat.completions.create(model=MODEL, messages=MESSAGES)
    with pytest.raises(openai.InternalServerError) as error:
        other.with_options(api_key="right").chat.completions.create(model=MODEL, messages=MESSAGES)
    assert error.value.status_code == 503 and error.value.code == "no_available_workers"


def test_openai_client_that_leaves_frees_its_place(gateway, mock_worker):
    g = gateway([mock_worker(MODEL, "--tokens-per-s", "5")])
    sdk = openai.OpenAI(base_url=f"http://127.0.0.1:{g.port}/v1", api_key="any", max_retries=0)
    stream = sdk.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True, max_tokens=1000)
    next(iter(stream))
    assert g.load() == 1
    stream.close()
    g.wait_idle(2)


def test_openai_retries_by_itself_after_429(gateway, worker):
    answers = iter([429, 200])

    def handler(x):
        if next(answers) == 429:
            x.respond(429, {"error": {"message": "slow"}}, {"Retry-After": "0"})
        else:
            x.respond(200, {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}]})

    g = gateway([worker(handler)], "--disable-retries")
    sdk = openai.OpenAI(base_url=f"http://127.0.0.1:{g.port}/v1", api_key="any", max_retries=2)
    assert sdk.chat.completions.create(model="m", messages=MESSAGES).choices[0].message.content == "hi"


def test_anthropic_messages(claude):
    answer = claude.messages.create(model=MODEL, max_tokens=16, messages=MESSAGES, system="be brief")
    assert answer.content[0].text and answer.usage.output_tokens > 0


def test_anthropic_stream(claude):
    with claude.messages.stream(model=MODEL, max_tokens=16, messages=MESSAGES) as stream:
        text = "".join(stream.text_stream)
    assert text


def test_anthropic_count_tokens(claude):
    assert claude.messages.count_tokens(model=MODEL, messages=MESSAGES).input_tokens > 0


def test_anthropic_error_classes(claude, gateway):
    with pytest.raises(anthropic.NotFoundError) as error:
        claude.messages.create(model="nobody", max_tokens=5, messages=MESSAGES)
    assert error.value.body["error"]["type"] == "not_found_error"
    keyed = gateway([], "--api-key", "right")
    other = anthropic.Anthropic(base_url=f"http://127.0.0.1:{keyed.port}", auth_token="wrong", max_retries=0)
    with pytest.raises(anthropic.AuthenticationError):
        other.messages.create(model=MODEL, max_tokens=5, messages=MESSAGES)


def test_langchain(served):
    chat = ChatOpenAI(base_url=f"http://127.0.0.1:{served.port}/v1", api_key="any", model=MODEL, max_retries=0)
    assert chat.invoke("hello").content
    assert "".join(part.content for part in chat.stream("hello"))
    assert chat.bind_tools([TOOL]).invoke("hello") is not None
    assert len(chat.batch(["one", "two", "three"])) == 3


def test_curl(served):
    done = subprocess.run(
        ["curl", "--http1.1", "-sS", "-i", f"http://127.0.0.1:{served.port}{CHAT}", "-H",
         "content-type: application/json", "-d", '{"model":"mock","messages":[{"role":"user","content":"hi"}]}'],
        capture_output=True, text=True, timeout=20)
    assert done.returncode == 0
    assert done.stdout.startswith("HTTP/1.1 200") and '"choices"' in done.stdout


def test_wrk_for_30_seconds_sees_no_error(gateway, mock_worker, tmp_path):
    fast = ["--ttft-ms", "0", "--tokens-per-s", "1000000", "--prefill-tokens-per-s", "100000000", "--output-tokens", "4"]
    workers = [mock_worker(MODEL, *fast) for _ in range(2)]
    g = gateway(workers, "--log-level", "warn", policy="cache_aware")
    script = tmp_path / "chat.lua"
    script.write_text('wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nlocal n = 0\n'
                      'request = function()\n  n = n + 1\n  return wrk.format(nil, nil, nil, \'{"model":"mock","messages":'
                      '[{"role":"user","content":"\' .. (n % 500) .. string.rep(" words", 100) .. \'"}]}\')\nend\n')
    done = subprocess.run(["wrk", "-t1", "-c16", "-d30s", "-s", str(script), f"http://127.0.0.1:{g.port}{CHAT}"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    requests = int(re.search(r"(\d+) requests in", done.stdout)[1])
    assert requests > 1000, done.stdout
    assert "Non-2xx" not in done.stdout and "Socket errors" not in done.stdout, done.stdout
    g.wait_idle()
    # wrk drops what is under way at its end.
    assert g.metric("smg_http_responses_total", path=CHAT, status_code="200") >= requests
    assert g.metric("smg_http_responses_total", path=CHAT) - g.metric("smg_http_responses_total", path=CHAT,
                                                                      status_code="200") <= 16


# The simulated engine itself.


def test_mock_worker_says_what_it_is(mock_worker):
    w = mock_worker("some-model", "--runtime", "sglang")
    models = fetch(w.port, "GET", "/v1/models").json()
    assert models["data"][0]["id"] == "some-model" and models["data"][0]["owned_by"] == "sglang"


def test_mock_worker_reports_its_load(gateway, mock_worker):
    w = mock_worker(MODEL, "--tokens-per-s", "5")
    g = gateway([w], "--load-monitor-interval", "1", policy="cache_aware")
    sdk = openai.OpenAI(base_url=f"http://127.0.0.1:{g.port}/v1", api_key="any", max_retries=0)
    stream = sdk.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True, max_tokens=1000)
    next(iter(stream))
    until(lambda: g.metric("smg_engine_running_requests", worker=w.url) == 1, 10)
    stream.close()
    until(lambda: g.metric("smg_engine_running_requests", worker=w.url) == 0, 10)
    for name in ("vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc"):
        assert name in fetch(w.port, "GET", "/metrics").body.decode()


def test_mock_worker_fails_as_often_as_told(gateway, mock_worker):
    always, never = mock_worker(MODEL, "--fail-rate", "1", "--fail-status", "503"), mock_worker(MODEL)
    g = gateway([always, never])
    for i in range(10):
        assert g.chat(model=MODEL).worker == never.url
    assert g.metric("smg_worker_errors_total") > 0
