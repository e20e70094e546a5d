"""Faults to order: how they are asked for, when they come, and what they do to a reply."""

import pytest

from dokimasia.domain.call import ChatReply, ModelSpec, Usage
from dokimasia.errors import ConfigError, TransportError
from dokimasia.simulation.draws import request_hash
from dokimasia.simulation.serving.faults import (
    CONTENT_FAULTS,
    FAULT_KINDS,
    HUGE_BYTES,
    LASTING_FAULTS,
    TRANSPORT_FAULTS,
    Faults,
    Tries,
    parse_faults,
    spoil,
)
from dokimasia.simulation.serving.transport import SimTransport

LINES = "1 | score: [5]\n2 | score: [1]"
REPLY = ChatReply(
    text=LINES, finish_reason="stop", native_finish_reason="stop", usage=Usage(input_tokens=1, output_tokens=8)
)


class Blobs:
    """A blob store with one image, counting how often it is asked."""

    def __init__(self, images=()):
        self.images = dict(images)
        self.reads = 0

    def put_image(self, data, ref):
        """Keep the image."""
        self.images[ref.sha256] = data

    def get(self, sha256):
        """Return the image."""
        self.reads += 1
        return self.images[sha256]


async def send(transport, call, *, limit=5.0, api_key=None, blobs=None):
    """Send a call through the transport in process."""
    spec = ModelSpec(ref=call.model, timeout=limit)
    return await transport.send(call, spec, api_key=api_key, blobs=blobs or Blobs())


def test_faults_are_read_from_a_list_of_rates():
    """Kinds and rates stand in pairs with commas between; an empty list is no fault."""
    assert parse_faults(" rate_limit=0.1, html=0.05 ").rates == {"rate_limit": 0.1, "html": 0.05}
    assert parse_faults("").rates == {}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("ratelimit=0.1", r"'ratelimit'.*rate_limit.*missing_usage"),
        ("html", "not a rate from 0 to 1"),
        ("html=lots", "'lots' is not a rate"),
        ("html=1.5", "'1.5' is not a rate"),
        ("html=nan", "not a rate"),
        ("html=0.1,html=0.2", "given twice"),
        ("html=0.6,reset=0.6", "html, reset sum to 1.2"),
    ],
)
def test_a_wrong_fault_is_refused_with_what_is_wrong(text, complaint):
    """An unknown kind is answered with all kinds, a wrong rate with the rate, too much with the sum."""
    with pytest.raises(ConfigError, match=complaint):
        parse_faults(text)


def test_transport_faults_come_at_most_twice_in_a_row():
    """Even at a rate of one every third try is served, for each request by itself."""
    tries = Tries(parse_faults("server_error=0.5,reset=0.5"))
    seen = [[tries.next_fault(key) is None for _ in range(9)] for key in ("a", "b")]
    assert seen == [[False, False, True] * 3] * 2


def test_transport_faults_come_at_about_their_rate():
    """Over many requests the share of faulty first tries is near the rate, and each kind asked for occurs."""
    tries = Tries(parse_faults("rate_limit=0.1,timeout=0.2"))
    first = [tries.next_fault(str(number)) for number in range(2000)]
    assert 130 < first.count("rate_limit") < 270
    assert 320 < first.count("timeout") < 480


def test_content_faults_belong_to_the_request(ask):
    """The same request has the same fault of content in every process; another seed may have none."""
    faults = parse_faults("empty_content=0.5")
    calls = [ask("sim/judge", "candidate", {"question": "What?"}, repeat=repeat) for repeat in range(60)]
    once, again = ([Tries(faults).spoil(REPLY, call).text for call in calls] for _ in range(2))
    assert once == again
    assert 15 < once.count("") < 45


def test_every_content_fault_does_what_its_name_says(ask):
    """Each fault of content changes text, finish reason, refusal or usage in its own way."""
    call = ask("sim/judge", "candidate", {"question": "What?"})
    spoilt = {fault: spoil(REPLY, call, fault) for fault in CONTENT_FAULTS}
    assert spoilt["refusal"].refusal == spoilt["refusal"].text
    assert (spoilt["truncated"].text, spoilt["truncated"].finish_reason) == (LINES[:14], "length")
    assert spoilt["malformed"].text == LINES[::-1]
    assert (spoilt["empty_content"].text, spoilt["empty_content"].finish_reason) == ("", "stop")
    assert (spoilt["content_filter"].text, spoilt["content_filter"].finish_reason) == ("", "content_filter")
    assert spoilt["missing_score"].text == "1 | score: [5]"
    assert spoilt["wrong_score"].text == "1 | score: [5]\n2 | score: [7]"
    assert spoilt["extra_criterion"].text == LINES + "\n3 | score: [3]"
    assert spoilt["contradictory_scores"].text == LINES + "\n1 | score: [1]"
    assert len(spoilt["huge"].text) >= HUGE_BYTES
    assert spoilt["missing_usage"].usage == Usage()
    assert (spoilt["odd_finish"].finish_reason, spoilt["odd_finish"].native_finish_reason) == ("unknown", "eos_token")
    assert spoil(REPLY.model_copy(update={"text": "no scores"}), call, "wrong_score").text == "no scores"


@pytest.mark.parametrize("fault", [*TRANSPORT_FAULTS, *LASTING_FAULTS])
async def test_in_process_faults_are_the_errors_that_a_wire_would_bring(ask, fault):
    """Each fault is raised with whether a retry helps and without the key; lasting ones stay, others pass."""
    transport = SimTransport(faults=Faults(rates={fault: 1.0}))
    call = ask("sim/judge", "candidate", {"question": "What?"})
    for _ in range(2):
        with pytest.raises(TransportError) as raised:
            await send(transport, call, limit=0.01, api_key="sk-secret")
        assert raised.value.retryable == (fault in TRANSPORT_FAULTS)
        assert (raised.value.retry_after is not None) == (fault == "rate_limit")
        assert "sk-secret" not in str(raised.value)
    if fault in TRANSPORT_FAULTS:
        assert (await send(transport, call)).text
    else:
        with pytest.raises(TransportError):
            await send(transport, call)
    await transport.aclose()


async def test_in_process_an_image_is_read_once_and_a_scene_is_seen(ask, small_scene, small_png, small_ref):
    """The transport fetches a picture from the blob store only when it has not seen it, and answers from its scene."""
    question = small_scene.questions[0]
    blobs = Blobs({small_ref.sha256: small_png})
    transport = SimTransport(latency=0.001)
    for repeat in range(3):
        call = ask("sim/judge", "candidate", {"question": question.text}, images=(small_ref,), repeat=repeat)
        assert (await send(transport, call, blobs=blobs)).text.endswith(f"Final answer: {question.answer}")
    assert blobs.reads <= 1


async def test_in_process_an_unknown_model_is_not_found(ask):
    """A model that there is not is an error of kind `not_found` that lists those there are."""
    with pytest.raises(TransportError, match="sim/strong") as raised:
        await send(SimTransport(), ask("sim/nobody", "candidate", {"question": "What?"}))
    assert (raised.value.kind, raised.value.status, raised.value.retryable) == ("not_found", 404, False)


async def test_in_process_a_fault_of_content_is_in_the_reply(ask):
    """The transport plants the fault that the request has."""
    transport = SimTransport(faults=parse_faults("missing_usage=1"))
    call = ask("sim/judge", "candidate", {"question": "What?"})
    assert (await send(transport, call)).usage == Usage()
    assert len(request_hash(call)) == 32
    assert set(FAULT_KINDS) >= {"context_overflow", "huge", "html"}
