"""The simulated server: OpenAI's format on HTTP, equal to the byte to the models in process."""

import asyncio
import base64
import io
import itertools
import socket
import time

import aiohttp
import orjson
import pytest

from dokimasia.domain.call import Message, Sampling
from dokimasia.domain.sample import TextPart
from dokimasia.errors import ConfigError
from dokimasia.simulation.draws import request_hash
from dokimasia.simulation.profiles import profiles
from dokimasia.simulation.respond import respond
from dokimasia.simulation.serving.faults import parse_faults
from dokimasia.simulation.serving.server import running_server, serve
from tests.processes import PATIENCE


@pytest.fixture(scope="module")
def base_url():
    """A server without faults."""
    with running_server() as url:
        yield url


def to_body(call, png=b""):
    """A call as a client would write it."""
    messages = []
    for message in call.messages:
        parts = []
        for part in message.parts:
            if part.kind == "text":
                parts.append({"type": "text", "text": part.text})
            else:
                url = "data:image/png;base64," + base64.b64encode(png).decode()
                parts.append({"type": "image_url", "image_url": {"url": url}})
        messages.append({"role": message.role, "content": parts})
    body = {"model": call.model.model, "messages": messages, **call.sampling.model_dump(exclude_none=True)}
    body |= body.pop("extra")
    return body | ({"seed": call.repeat} if call.repeat else {})


async def post(url, body, **more):
    """Send a body and return status, headers and bytes."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/chat/completions", data=orjson.dumps(body), **more) as response,
    ):
        return response.status, response.headers, await response.read()


def log_lines(path):
    """The log's lines."""
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


async def settled(path, count):
    """The log's lines once there are so many of them."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        lines = log_lines(path) if path.exists() else []
        if len(lines) >= count:
            return lines
        await asyncio.sleep(0.01)
    raise AssertionError(f"the log has fewer than {count} lines")


@pytest.mark.parametrize("repeat", [0, 1, 7])
async def test_http_and_in_process_agree_to_the_byte(base_url, ask, small_scene, small_png, small_ref, repeat):
    """The same request brings the same text, finish reason and usage on both ways, and the same bytes every time."""
    inputs = {"question": small_scene.questions[0].text}
    sampling = Sampling(temperature=0.5, max_tokens=60, extra={"top_k": 5})
    call = ask("sim/weak", "candidate", inputs, images=(small_ref,), repeat=repeat, sampling=sampling)
    reply = respond(call, {small_ref.sha256: small_png})
    status, _, body = await post(base_url, to_body(call, small_png))
    assert status == 200
    data = orjson.loads(body)
    assert data["choices"][0]["message"]["content"] == reply.text
    assert data["choices"][0]["finish_reason"] == reply.finish_reason
    assert data["usage"]["prompt_tokens"] == reply.usage.input_tokens
    assert data["usage"]["completion_tokens"] == reply.usage.output_tokens
    assert data["id"] == f"chatcmpl-{request_hash(call)}"
    assert (await post(base_url, to_body(call, small_png)))[2] == body


async def test_a_provider_prefix_and_a_plain_text_content_change_nothing(base_url, ask):
    """`openai/sim/...`, content as one string, and a seed of zero are the same request."""
    call = ask("sim/strong", "candidate", {"question": "What is it?"})
    body = to_body(call)
    other = {**body, "model": "openai/sim/strong", "seed": 0, "stream": False}
    other["messages"] = [{"role": "user", "content": call.messages[0].text}]
    assert (await post(base_url, body))[2] == (await post(base_url, other))[2]


async def test_the_models_are_listed(base_url):
    """All models are there, judges with `judge` in their names."""
    async with aiohttp.ClientSession() as session, session.get(f"{base_url}/models") as response:
        data = await response.json()
    assert [model["id"] for model in data["data"]] == list(profiles())
    assert data["object"] == "list"


@pytest.mark.parametrize(
    ("change", "status", "complaint"),
    [
        ({"stream": True}, 400, "stream"),
        ({"n": 2}, 400, "n: one choice"),
        ({"messages": []}, 400, "messages"),
        ({"messages": [{"role": "tool", "content": "x"}]}, 400, "messages[0].role"),
        ({"messages": [{"role": "user", "content": [{"type": "audio"}]}]}, 400, "messages[0].content[0]"),
        ({"temperature": -1}, 400, "temperature"),
        ({"seed": -1}, 400, "repeat"),
        ({"model": ""}, 400, "model"),
        ({"model": "sim/nobody"}, 404, "sim/strong"),
    ],
)
async def test_a_wrong_request_gets_openais_error(base_url, ask, change, status, complaint):
    """Whatever is wrong with a request is said in an error of OpenAI's form."""
    body = to_body(ask("sim/strong", "candidate", {"question": "What?"})) | change
    got, _, text = await post(base_url, body)
    assert got == status
    assert complaint in orjson.loads(text)["error"]["message"]


@pytest.mark.parametrize("url", ["https://example.org/a.png", "data:image/png;base64,AAAA", "data:image/png;base64,*"])
async def test_only_images_that_are_sent_along_are_looked_at(base_url, url):
    """A link, broken base64 and bytes that are no image are refused."""
    content = [{"type": "text", "text": "What?"}, {"type": "image_url", "image_url": {"url": url}}]
    status, _, text = await post(base_url, {"model": "sim/weak", "messages": [{"role": "user", "content": content}]})
    assert status == 400
    assert "messages[0].content[1].image_url" in orjson.loads(text)["error"]["message"]


async def test_a_wrong_path_and_a_broken_body_get_openais_error(base_url):
    """Errors of HTTP itself are JSON too."""
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{base_url}/nothing") as response:
            assert response.status == 404
            assert (await response.json())["error"]["message"]
        async with session.post(f"{base_url}/chat/completions", data=b"{") as response:
            assert response.status == 400
            assert "not JSON" in (await response.json())["error"]["message"]


async def test_the_log_has_a_line_for_every_request(tmp_path, ask):
    """A line tells request, model, status, `sent`, times and tokens; a later server counts on; a lost client is seen."""
    log = tmp_path / "requests.jsonl"
    call = ask("sim/strong", "candidate", {"question": "What?"})
    with running_server(log_path=log) as url:
        await post(url, to_body(call))
        await post(url, to_body(call) | {"model": "sim/nobody"})
        await post(url, {"model": "sim/strong"})
        lines = await settled(log, 3)
    assert [line["n"] for line in lines] == [1, 2, 3]
    assert [line["status"] for line in lines] == [200, 404, 400]
    assert [line["sent"] for line in lines] == [True, True, True]
    assert lines[0]["request"] == request_hash(call)
    assert lines[0]["model"] == "sim/strong"
    assert lines[2]["request"] is None
    assert all(set(line) == {"n", "request", "model", "status", "sent", "began", "ended", "tokens"} for line in lines)
    assert [line["tokens"] is None for line in lines] == [False, True, True]
    with running_server(log_path=log, latency=PATIENCE) as url:
        with pytest.raises(asyncio.TimeoutError):
            await post(url, to_body(call), timeout=aiohttp.ClientTimeout(sock_read=1.0))
        lines = await settled(log, 4)
    assert (lines[3]["n"], lines[3]["sent"]) == (4, False)
    assert all(one["ended"] <= two["began"] for one, two in itertools.pairwise(lines))
    assert lines[3]["ended"] - lines[3]["began"] < PATIENCE


@pytest.mark.parametrize("fault", ["rate_limit", "rate_limit_bare", "server_error", "unavailable", "overloaded"])
async def test_a_failing_status_passes_after_two_tries(tmp_path, ask, fault):
    """Planted statuses come twice, with `Retry-After` where one is planted, and then the reply."""
    call = ask("sim/strong", "candidate", {"question": "What?"})
    log = tmp_path / "log"
    with running_server(faults=parse_faults(f"{fault}=1"), log_path=log) as url:
        got = [await post(url, to_body(call)) for _ in range(3)]
    expected = {"rate_limit": 429, "rate_limit_bare": 429, "server_error": 500, "unavailable": 503, "overloaded": 529}
    assert [status for status, _, _ in got] == [expected[fault]] * 2 + [200]
    assert ("Retry-After" in got[0][1]) == (fault == "rate_limit")
    assert [line["status"] for line in log_lines(log)] == [expected[fault]] * 2 + [200]


@pytest.mark.parametrize("fault", ["cut_json", "empty_body", "empty_choices", "html"])
async def test_a_broken_reply_has_status_200_and_was_not_sent_whole(tmp_path, ask, fault):
    """Replies that are no completion carry status 200 on the wire, and the log does not call them sent."""
    call = ask("sim/strong", "candidate", {"question": "What?"})
    log = tmp_path / "log"
    with running_server(faults=parse_faults(f"{fault}=1"), log_path=log) as url:
        status, headers, body = await post(url, to_body(call))
        lines = await settled(log, 1)
    assert status == 200
    assert (lines[0]["status"], lines[0]["sent"]) == (200, False)
    if fault == "empty_choices":
        assert orjson.loads(body)["choices"] == []
    else:
        assert headers["Content-Type"].startswith("text/html" if fault == "html" else "application/json")
        with pytest.raises(orjson.JSONDecodeError):
            orjson.loads(body)


async def test_a_reset_and_a_hanging_request_bring_no_reply(tmp_path, ask):
    """A reset breaks the connection, a time-out keeps it silent; neither was sent, and both pass."""
    call = ask("sim/strong", "candidate", {"question": "What?"})
    log = tmp_path / "log"
    with running_server(faults=parse_faults("reset=1"), log_path=log) as url:
        for _ in range(2):
            with pytest.raises(aiohttp.ClientConnectionError):
                await post(url, to_body(call))
        assert (await post(url, to_body(call)))[0] == 200
    with running_server(faults=parse_faults("timeout=1"), log_path=log) as url:
        with pytest.raises(asyncio.TimeoutError):
            await post(url, to_body(call), timeout=aiohttp.ClientTimeout(sock_read=1.0))
        lines = await settled(log, 4)
    assert [line["sent"] for line in lines] == [False, False, True, False]


async def test_lasting_faults_stay_and_quote_the_key(ask):
    """A request that is too long stays so; a refused key is echoed, as some providers do."""
    call = ask("sim/strong", "candidate", {"question": "What?"})
    with running_server(faults=parse_faults("context_overflow=1")) as url:
        got = [await post(url, to_body(call)) for _ in range(3)]
    assert {status for status, _, _ in got} == {400}
    assert orjson.loads(got[0][2])["error"]["code"] == "context_length_exceeded"
    with running_server(faults=parse_faults("unauthorized=1")) as url:
        status, _, body = await post(url, to_body(call), headers={"Authorization": "Bearer sk-very-secret"})
    assert status == 401
    assert "sk-very-secret" in orjson.loads(body)["error"]["message"]


async def test_content_faults_are_the_same_on_the_wire(ask):
    """A missing usage is missing, an odd finish reason is odd, and ten megabytes arrive whole."""
    call = ask("sim/strong", "candidate", {"question": "What?"})
    bodies = {}
    for fault in ("missing_usage", "odd_finish", "huge", "content_filter"):
        with running_server(faults=parse_faults(f"{fault}=1")) as url:
            bodies[fault] = orjson.loads((await post(url, to_body(call)))[2])
    assert "usage" not in bodies["missing_usage"]
    assert bodies["odd_finish"]["choices"][0]["finish_reason"] == "eos_token"
    assert len(bodies["huge"]["choices"][0]["message"]["content"]) > 10_000_000
    assert bodies["content_filter"]["choices"][0]["finish_reason"] == "content_filter"


async def test_a_taken_port_is_an_error_with_a_way_out():
    """A port in use is the user's mistake, said in a line that names the option."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ConfigError, match="--port"):
            await serve(port=taken.getsockname()[1])


def test_a_log_that_cannot_be_written_stops_the_server(tmp_path):
    """A log in a folder that is not there is the user's mistake."""
    with pytest.raises(ConfigError, match="cannot be written"), running_server(log_path=tmp_path / "no" / "log"):
        pass


async def test_many_requests_at_once_are_all_answered(tmp_path, ask):
    """Three hundred concurrent requests with faults are each answered within three tries and logged in full."""
    log = tmp_path / "log"
    calls = [ask("sim/strong", "candidate", {"question": "What?"}, repeat=repeat) for repeat in range(300)]
    with running_server(faults=parse_faults("unavailable=0.2,empty_body=0.2"), log_path=log) as url:
        async with aiohttp.ClientSession() as session:

            async def until_served(call):
                for tried in range(1, 4):
                    async with session.post(f"{url}/chat/completions", json=to_body(call)) as response:
                        if response.status == 200 and await response.read():
                            return tried
                raise AssertionError("not served within three tries")

            tried = await asyncio.gather(*map(until_served, calls))
        lines = await settled(log, sum(tried))
    assert {1, 2, 3} == set(tried)
    assert len(lines) == sum(tried)
    assert sum(line["status"] == 200 and line["sent"] for line in lines) == 300


async def test_a_body_beyond_the_limit_is_refused(base_url):
    """A request of more than 64 MiB gets status 413 in OpenAI's form."""
    large = io.BytesIO(b" " * (65 * 2**20))
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{base_url}/chat/completions", data=large) as response,
    ):
        assert response.status == 413
        assert "larger than" in (await response.json())["error"]["message"]


async def test_text_split_into_parts_is_the_same_request(base_url, ask):
    """Neighbouring text parts count as one text."""
    call = ask("sim/strong", "candidate_plain", {"question": "What is it?"})
    split = call.model_copy(
        update={"messages": (Message(role="user", parts=(TextPart(text="What is"), TextPart(text=" it?"))),)}
    )
    assert (await post(base_url, to_body(call)))[2] == (await post(base_url, to_body(split)))[2]
