"""Duels end to end on creative cases: both orders, answers that exist, one order, the noise floor, failures, bad input."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dokimasia.domain.call import Chat, ChatReply, ModelCall, ModelReply
from dokimasia.errors import ConfigError, DataError, UnparsableReply
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.duel import DuelRequest, duel
from dokimasia.methods.duel.results import duel_items
from dokimasia.parsing import parse_factuality_scores, parse_pairwise_verdict
from dokimasia.prompts import default_library, recognise
from dokimasia.runs.lifecycle import RunResult, resume
from dokimasia.runs.outcome import RETRYABLE
from dokimasia.runs.reading.exporting import export_rows
from dokimasia.settings import Settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_creative
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run

CASES = 8
BASE = {"judge": "sim/judge", "models": ("sim/strong", "sim/weak"), "baseline": "sim/steady"}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight creative cases of one to nine pictures."""
    path = tmp_path_factory.mktemp("creative") / "cases.jsonl"
    write_creative(path, CASES, 1)
    return path


def run(settings: Settings, data: Path, transport: Any = None, **changes: Any) -> RunResult:
    request = DuelRequest.model_validate({**BASE, "data": data, **changes})
    return asyncio.run(duel(request, settings=settings, transports={"sim": transport or SimTransport()}))


def asked(call: ModelCall) -> str:
    found = recognise(call.messages) if isinstance(call, Chat) else None
    return "" if found is None else found.name


def items(settings: Settings, done: RunResult) -> list[dict[str, Any]]:
    with Home.open(settings.home, write=False) as home:
        return list(duel_items(home, get_run(home, done.run)))


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def changed(path: Path, change: Any) -> Path:
    """Write the cases anew, each as `change` makes it, beside their pictures."""
    copy = path.with_name("changed.jsonl")
    copy.write_text("".join(json.dumps(change(row)) + "\n" for row in rows(path)))
    return copy


def test_each_order_is_a_call_and_stored_apart(cases: Path, settings: Settings) -> None:
    """An answer has a verdict and factuality scores in either order, all images are sent, and better writers win."""
    transport = CountingTransport(SimTransport())
    done = run(settings, cases, transport)
    factual = sum("factuality" in row["meta"]["criteria"] for row in rows(cases))
    judged = [call for call in transport.sent if asked(call) == "duel_verdict"]
    assert len(judged) == 2 * 2 * CASES
    assert sum(asked(call) == "duel_factuality" for call in transport.sent) == 2 * 2 * factual
    pictures = sorted(len(row["images"]) for row in rows(cases) for _ in range(4))
    assert sorted(sum(len(message.images) for message in call.messages) for call in judged) == pictures
    blind = [call for call in transport.sent if asked(call) == "duel_factuality"]
    assert not any(message.images for call in blind for message in call.messages)
    models = done.summary["models"]
    assert models["sim/strong"]["reward"]["mean"] > 0 > models["sim/weak"]["reward"]["mean"]
    assert models["sim/strong"]["factuality"]["n"] == factual
    assert models["sim/strong"]["factuality"]["not_applicable"] == CASES - factual
    for item in items(settings, done):
        kinds = [(one["asked"], one["place"]) for one in item["judgements"]]
        assert kinds[:2] == [("verdict", "first"), ("verdict", "second")]
        assert len(kinds) == (4 if item["factuality_criteria"] else 2)


def test_a_judge_that_takes_what_comes_first_gains_nobody_anything(cases: Path, settings: Settings) -> None:
    """Both orders cancel what the place alone decides, which consistency and bias say."""

    def first(call: ModelCall, reply: ModelReply) -> ModelReply:
        return ChatReply(text="Final Verdict is: [[A>>B]]") if asked(call) == "duel_verdict" else reply

    done = run(settings, cases, CountingTransport(SimTransport(), change=first), factuality="none")
    found = done.summary["places"]
    assert (found["consistency"]["mean"], found["bias"]["mean"]) == (0, 100)
    assert all(one["reward"]["mean"] == 0 for one in done.summary["models"].values())
    assert all(one["single"]["first"]["reward"]["mean"] == 100 for one in done.summary["models"].values())


def test_one_order_asks_half(cases: Path, settings: Settings) -> None:
    """With --single the judge is asked with the model's answer first alone, and places are not spoken of."""
    transport = CountingTransport(SimTransport())
    done = run(settings, cases, transport, single=True, factuality="none")
    assert sum(asked(call) == "duel_verdict" for call in transport.sent) == 2 * CASES
    assert done.summary["places"] is None
    assert done.summary["models"]["sim/weak"]["single"]["second"] is None
    twice = CountingTransport(SimTransport())
    both = run(settings, cases, twice, factuality="none")
    assert sum(asked(call) == "duel_verdict" for call in twice.sent) == 2 * CASES, "the first order lies in the ledger"
    assert (
        both.summary["models"]["sim/weak"]["single"]["first"] == done.summary["models"]["sim/weak"]["single"]["first"]
    )


def test_the_noise_floor_is_another_answer_of_the_baseline(cases: Path, settings: Settings) -> None:
    """The baseline answers twice, each a draw of its own, and its second answer is held against its first."""
    done = run(settings, cases, noise_floor=True, models=())
    assert list(done.summary["models"]) == ["sim/steady#again"]
    found = done.summary["models"]["sim/steady#again"]
    assert found["same_text"] < CASES
    assert found["verdicts"]["valid"] == 2 * CASES
    assert all(item["response"] != item["baseline_response"] for item in items(settings, done)[:1])


def test_what_judge_and_models_are_shown_is_chosen(cases: Path, settings: Settings) -> None:
    """A judge without sight, factuality with the images, and models without them are as they are asked for."""
    transport = CountingTransport(SimTransport())
    done = run(settings, cases, transport, judge_sees="text", factuality="image", no_image=True, models=("sim/strong",))
    seen: dict[str, set[bool]] = {}
    for call in transport.sent:
        seen.setdefault(asked(call), set()).add(any(message.images for message in call.messages))
    assert seen["duel_verdict"] == {False}
    assert seen["duel_factuality"] == {True}
    assert seen["candidate_plain"] == {True, False}
    models = done.summary["models"]
    assert (
        models["sim/strong#blind"]["factuality"]["model"]["mean"] < models["sim/strong"]["factuality"]["model"]["mean"]
    )


def test_answers_that_exist_are_not_asked_for(cases: Path, settings: Settings, tmp_path: Path) -> None:
    """Of a file of responses and a reference nobody is asked but the judge; the file is no longer needed afterwards."""
    path = tmp_path / "answers.jsonl"
    lines = [{"id": row["id"], "model": "gpt", "response": "It is very nice to look at."} for row in rows(cases)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    transport = CountingTransport(SimTransport())
    done = run(settings, cases, transport, responses=path, baseline="reference", models=())
    assert set(transport.by_model) == {"sim/judge"}
    assert done.summary["models"]["gpt"]["reward"]["mean"] < 0
    assert done.summary["models"]["gpt"]["tokens"] is None
    path.unlink()
    assert items(settings, done)[0]["baseline_response"] == rows(cases)[0]["reference_answer"]


def test_a_verdict_that_cannot_be_read_fails_alone(cases: Path, settings: Settings) -> None:
    """One order that is unparsable is no number and spoils no other; asked anew, it alone is asked."""
    spoilt: list[str] = []

    def garbled(call: ModelCall, reply: ModelReply) -> ModelReply:
        first = asked(call) == "duel_verdict" and (not spoilt or call.messages[:2] == spoilt_call[0].messages[:2])
        if not first:
            return reply
        spoilt_call.append(call)
        spoilt.append("x")
        return ChatReply(text="Final Verdict is: [[A>B]] or rather [[B>A]]")

    spoilt_call: list[Any] = []
    done = run(settings, cases, CountingTransport(SimTransport(), change=garbled))
    counts: Mapping[str, Any] = {name: one["verdicts"] for name, one in done.summary["models"].items()}
    assert sum(one["failed"] for one in counts.values()) == 1
    assert sum(one["one_order"] for one in counts.values()) == 1
    assert sum(one["valid"] for one in counts.values()) == 4 * CASES - 2
    assert len(spoilt) == 2, "it was sent back once"
    good = CountingTransport(SimTransport())
    with Home.open(settings.home, write=False) as home:
        row = get_run(home, done.run)
    again = asyncio.run(resume(row, settings=settings, retry=RETRYABLE, transports={"sim": good}))
    assert sum(one["verdicts"]["failed"] for one in again.summary["models"].values()) == 0
    assert [asked(call) for call in good.sent] == ["duel_verdict"]


def test_what_the_budget_refused_stays_open_beside_another_failure(cases: Path, settings: Settings) -> None:
    """Where one order is unparsable and the other was refused by the budget, a resume asks the other."""

    def garbled(call: ModelCall, reply: ModelReply) -> ModelReply:
        return ChatReply(text="I cannot say.") if asked(call) == "duel_verdict" else reply

    transport = CountingTransport(SimTransport(), change=garbled)
    options: dict[str, Any] = {"models": ("sim/strong",), "limit": 1, "factuality": "none"}
    done = run(settings, cases, transport, max_calls=5, **options)
    said = {one["failure"] for item in items(settings, done) for one in item["judgements"]}
    assert said == {"unparsable", "budget"}
    assert [item["failure"] for item in items(settings, done)] == ["budget"]
    again = run(settings, cases, SimTransport(), **options)
    assert again.summary["models"]["sim/strong"]["verdicts"]["one_order"] == 1


def test_an_export_is_read_as_responses(cases: Path, settings: Settings, tmp_path: Path) -> None:
    """An export has one row an answer, with both orders in columns, and its answers can be judged again by another."""
    done = run(settings, cases)
    with Home.open(settings.home, write=False) as home:
        export = asyncio.run(export_rows(home, get_run(home, done.run)))
    assert len(export.rows) == 2 * CASES
    one = export.rows[0]
    assert one["score"] == 25 * (one["verdict_first"] + one["verdict_second"])
    path = tmp_path / "export.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in export.rows))
    transport = CountingTransport(SimTransport())
    again = run(settings, cases, transport, responses=path, models=(), judge="sim/judge-noisy")
    assert set(again.summary["models"]) == {"sim/strong", "sim/weak"}
    assert set(transport.by_model) == {"sim/judge-noisy"}


def test_cases_without_criteria_are_judged_by_general_ones(cases: Path, settings: Settings) -> None:
    """Without criteria of its own a case is judged by general ones, which is said, and factuality does not apply."""
    data = changed(cases, lambda row: {**row, "meta": {}})
    done = run(settings, data)
    assert done.summary["cases"]["general_criteria"] == CASES
    assert done.summary["models"]["sim/strong"]["factuality"] is None
    assert done.summary["models"]["sim/strong"]["failures"] == {}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"baseline": "sim/weak"}, "`models` names the baseline 'sim/weak'"),
        ({"baseline": "reference", "noise_floor": True}, "a reference answer cannot be drawn"),
        ({"models": ()}, "name at least one model with `models`"),
    ],
)
def test_what_makes_no_sense_is_refused(cases: Path, settings: Settings, changes: dict[str, Any], problem: str) -> None:
    """Options that contradict each other are refused with a way out, before anything is sent."""
    silent = CountingTransport(SimTransport())
    with pytest.raises(ConfigError, match=problem):
        run(settings, cases, silent, **changes)
    assert silent.sent == []


@pytest.mark.parametrize(
    ("criteria", "problem"),
    [
        ({"subjective": 3}, r"creative-1-0000.*meta.criteria.subjective is neither a text nor a list of texts"),
        ({"style": "good"}, r"creative-1-0000.*meta.criteria has 'style'"),
        ([["nested"]], r"creative-1-0000.*meta.criteria is neither a text, nor a list of texts, nor an object"),
        (7, r"line 1 \(id 'creative-1-0000'\): meta.criteria is neither"),
    ],
)
def test_bad_criteria_are_named(cases: Path, settings: Settings, criteria: Any, problem: str) -> None:
    """Criteria that are no texts are refused with file and sample."""
    data = changed(cases, lambda row: {**row, "meta": {"criteria": criteria}})
    with pytest.raises(DataError, match=r"changed\.jsonl.*" + problem):
        run(settings, data)


def test_a_missing_reference_is_named(cases: Path, settings: Settings) -> None:
    """Against the reference every case needs one; those without are named."""
    data = changed(cases, lambda row: row if row["id"] != "creative-1-0003" else row | {"reference_answer": None})
    with pytest.raises(DataError, match=r"1 of 8 samples have no reference answer \(creative-1-0003\)"):
        run(settings, data, baseline="reference")


def test_missing_responses_are_named(cases: Path, settings: Settings, tmp_path: Path) -> None:
    """A model whose answers lack a case is refused with the case's name."""
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"id": "creative-1-0000", "model": "gpt", "response": "x"}) + "\n")
    with pytest.raises(DataError, match=r"gpt has no answer to 7 of 8 samples \(creative-1-0001"):
        run(settings, cases, responses=path, models=())


@pytest.mark.parametrize(
    ("name", "parse"), [("duel_verdict", parse_pairwise_verdict), ("duel_factuality", parse_factuality_scores)]
)
def test_the_empty_form_is_no_answer(name: str, parse: Any) -> None:
    """What a prompt shows as the form of a reply, copied as it stands, is unparsable."""
    prompt = default_library().get(name)
    with pytest.raises(UnparsableReply):
        parse(prompt.form_for(1))
    with pytest.raises(UnparsableReply):
        parse(prompt.instructions(1))


def test_as_published(cases: Path, settings: Settings) -> None:
    """The judge is asked by the paper's steps and verdicts, and every model greedily, with 4,096 tokens."""
    transport = CountingTransport(SimTransport())
    done = run(settings, cases, transport, protocol="published")
    names = {asked(call) for call in transport.sent}
    assert names == {"candidate_plain", "duel_verdict_published", "duel_factuality_published"}
    assert {(call.sampling.temperature, call.sampling.max_tokens) for call in transport.sent} == {(0.0, 4096)}
    assert done.summary["protocol"] == "published"
    (first, *_) = (call for call in transport.sent if asked(call) == "duel_verdict_published")
    assert "Response B Evaluation:" in first.messages[0].text
    assert "clearly better" in first.messages[0].text


def test_published_factuality_goes_by_the_criteria_where_there_is_no_ground_truth(
    cases: Path, settings: Settings
) -> None:
    """Figure 34 shows the judge criteria and answers alone; our protocol shows it the images."""

    def without_truth(row: dict[str, Any]) -> dict[str, Any]:
        meta = {name: value for name, value in row["meta"].items() if name != "ground_truth"}
        return {**row, "meta": meta}

    data = changed(cases, without_truth)
    for protocol, sees in (("default", True), ("published", False)):
        transport = CountingTransport(SimTransport())
        run(settings, data, transport, protocol=protocol)
        scored = [call for call in transport.sent if asked(call).startswith("duel_factuality")]
        assert scored
        assert {any(message.images for message in call.messages) for call in scored} == {sees}


def test_the_images_of_a_case_are_described_together(cases: Path, settings: Settings) -> None:
    """One call a case shows all its images, and the description has a part for each."""
    transport = CountingTransport(SimTransport())
    done = run(settings, cases, transport, describer="sim/strong", descriptions="specific")
    described = [call for call in transport.sent if asked(call) == "describe_images"]
    assert len(described) == CASES
    assert sum(asked(call) == "observe" for call in transport.sent) == CASES
    texts = {item["sample"]: item["descriptions"] for item in items(settings, done) if item["descriptions"]}
    images = {row["id"]: len(row["images"]) for row in rows(cases)}
    assert {id: text.count("Image ") for id, text in texts.items()} == images
