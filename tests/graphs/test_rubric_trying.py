"""Rubrics are tried before they are accepted, replaced once where they test nothing, and measured on what did not choose them."""

import json
from collections.abc import Mapping
from typing import Any

from dokimasia.domain.rubric import RubricSet
from dokimasia.errors import CallFailed
from dokimasia.gateway.doubles import Reply
from dokimasia.graphs.rubrics.validation import halves
from tests.graphs.test_rubric_making import CAPTION, POOL_TEXT, labels, made, rubric

CUPS = rubric("say that the cups are two", kind="count", evidence="Two cups")

POOL = ("p1", "p2", "m1", "m2", "m3")


def tried_on(made_set: RubricSet, what: str) -> list[tuple[str, tuple[bool | None, ...]]]:
    return [(one.name, one.passes) for one in made_set.tried if one.what == what]


async def test_what_every_response_of_the_half_passes_is_replaced_once() -> None:
    """The judge is told that the responses pass it; what it writes instead stands there, and is not tried again.

    This goes for what was mined from responses: an essential fact, which all of them get right, stays in the gate.
    """
    problems: list[str] = []

    def say(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
        if prompt == "candidate_plain":
            return "A cat on a grey stove with two cups."
        if prompt == "rubric_repair":
            problems.append(inputs["problems"])
            assert json.loads(inputs["rubrics"])[3]["stream"] == "easy-wrong"
            assert "responses" in inputs
            return json.dumps([{"n": 4, **rubric("not mention a stove"), "responses": [1]}])
        return None

    _, made_set, gateway = await made(say, pool=POOL)
    assert made_set is not None
    assert problems == ["rubric 4: it tests nothing: every response that it was tried on passes it (3)"]
    assert made_set.rubrics[0].statement == "The response must mention a cat."
    assert [one.replaced for one in made_set.rubrics] == [False, False, False, True]
    assert [(one.by, one.rubric.statement) for one in made_set.dropped] == [
        ("trial", "The response must not mention a dog."),
    ]
    first, _ = halves(POOL, "s", 0)
    assert made_set.easy_wrong[0].support == (POOL[first[0]],)
    assert labels(gateway).count("rubric_repair") == 1


async def test_one_or_two_responses_do_not_tell_what_tests_nothing() -> None:
    """With a small pool a rubric that careful descriptions pass stays: it gives way to no trifle that they leave out."""

    def say(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
        return "A cat on a grey stove with two cups." if prompt == "candidate_plain" else None

    for pool in (("p1", "p2"), ("p1", "p2", "m1", "m2")):
        _, made_set, gateway = await made(say, pool=pool)
        assert made_set is not None
        assert "rubric_repair" not in labels(gateway)
        assert made_set.rubrics[0].statement == "The response must mention a cat."


async def test_errors_of_the_other_half_are_no_reason_to_replace_a_mined_rubric() -> None:
    """An easy-wrong rubric that only the other half fails stays, though every response of this half passes it."""
    _, second = halves(("p1", "p2"), "s", 0)
    other = ("p1", "p2")[second[0]]

    def say(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
        if prompt == "candidate_plain":
            return POOL_TEXT if name == other else "A fox on a grey stove."
        if prompt == "easy_wrong":
            return json.dumps([rubric("not mention a dog", responses=[second[0] + 1])])
        return None

    _, made_set, gateway = await made(say)
    assert made_set is not None
    assert made_set.easy_wrong[0].support == (other,)
    assert "rubric_repair" not in labels(gateway)


async def test_what_a_golden_caption_with_an_error_of_its_kind_passes_is_replaced() -> None:
    """A rubric that calls itself a count and asks for no number is found by the caption that miscounts."""

    def say(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
        if prompt.startswith("must_right"):
            mention = rubric("mention the cups", kind="count", evidence="Two cups")
            return json.dumps([mention, rubric("mention a fridge"), rubric("say that the magnet is a banana")])
        if prompt == "candidate_plain":
            return "A dog on a grey stove."
        if prompt == "perturbation" and '"about"' in inputs["errors"]:
            errors = json.loads(inputs["errors"])
            assert (errors[0]["dimension"], errors[0]["about"]) == ("count", "The response must mention the cups.")
            changes = {"changes": [{"original": "Two cups", "new": "Three cups"}]}
            return json.dumps([{"n": 1, **changes}, *({"n": n, "none": True} for n in (2, 3, 4))])
        if prompt == "rubric_repair":
            assert '"Three cups" in place of "Two cups"' in inputs["problems"]
            return json.dumps([{"n": 1, **CUPS}])
        return None

    _, made_set, _ = await made(say)
    assert made_set is not None
    assert made_set.rubrics[0].statement == CUPS["statement"]
    assert [one.by for one in made_set.dropped] == ["trial"]


async def test_the_published_protocol_tries_nothing_and_lets_the_gate_forbid() -> None:
    """Nothing is replaced and silence may pass the gate, as in the paper; what is caught is measured all the same."""

    def say(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
        if prompt.startswith("must_right"):
            return json.dumps([rubric("not mention a bird"), rubric("mention a fridge"), rubric("mention a cat")])
        return "A cat on a fridge." if prompt == "candidate_plain" else None

    _, made_set, gateway = await made(say, published=True)
    assert made_set is not None
    assert (len(made_set.must_right), made_set.dropped) == (3, ())
    assert labels(gateway).count("perturbation") == 1
    assert labels(gateway).count("rubric_repair") == 0
    assert {"easy_wrong_published", "rubric_assessment_published"} < set(labels(gateway))
    assert not {"easy_wrong", "rubric_assessment"} & set(labels(gateway))
    assert len(tried_on(made_set, "planted")) == 1


async def test_a_gate_that_forbids_is_sent_back_and_then_dropped() -> None:
    """Silence passes a must-right rubric that forbids: it is mended into a demand, or left out with the reason."""

    def say(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
        if prompt.startswith("must_right"):
            negative = [rubric("not mention a bird"), rubric("avoid naming a parrot")]
            return json.dumps([*negative, rubric("mention a fridge"), rubric("mention a cat")])
        if prompt == "rubric_repair":
            assert inputs["problems"].count("it is must-right and forbids") == 2
            rows = json.loads(inputs["rubrics"])
            named = [n for n in range(1, len(rows) + 1) if f"rubric {n}: " in inputs["problems"]]
            again = {1: rubric("say that the magnet is a banana"), 2: rubric("refrain from naming a parrot")}
            return json.dumps([{"n": n, **again[n]} if n in again else {"n": n, "drop": True} for n in named])
        return None

    _, made_set, _ = await made(say)
    assert made_set is not None
    assert {one.polarity for one in made_set.must_right} == {"positive"}
    assert any("it is must-right and forbids" in one.reason for one in made_set.dropped)


async def test_power_is_measured_on_what_did_not_choose() -> None:
    """Must-right rubrics meet the half of the pool that they were not tried on, easy-wrong ones planted errors alone."""
    shown: list[str] = []

    def say(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
        if prompt == "candidate_plain":
            return f"{POOL_TEXT} Seen by {name}."
        if prompt == "rubric_assessment":
            shown.append(inputs["response"])
        return None

    pool = POOL
    _, made_set, _ = await made(say, pool=pool)
    assert made_set is not None
    first, second = halves(pool, "s", 0)
    assert (len(first), len(second)) == (3, 2)
    assert [name for name, _ in tried_on(made_set, "response")] == [pool[place] for place in second]
    assert all(passes == (False, False, False, None) for _, passes in tried_on(made_set, "response"))
    assert tried_on(made_set, "golden") == [("", (True,) * 4)]
    assert [name for name, _ in tried_on(made_set, "planted")] == ["count"]
    choosing = shown[: -1 - 1 - len(second)]
    assert all(f"Seen by {pool[place]}." in " ".join(choosing) for place in first)
    assert not any(f"Seen by {pool[place]}." in text for place in second for text in choosing)
    assert CAPTION.replace("Two", "Three") not in choosing


async def test_a_trial_that_fails_leaves_the_rubrics_as_they_are() -> None:
    """A perturbing model that plants nothing and a judge that cannot be read cost the trial, never the sample."""

    def say(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
        return "I would rather not." if prompt in {"perturbation", "rubric_assessment"} else None

    state, made_set, gateway = await made(say)
    assert made_set is not None
    assert not state.get("failed")
    assert len(made_set.rubrics) == 4
    assert {(one.what, one.failure) for one in made_set.tried} == {
        ("golden", "unparsable"),
        ("planted", "unparsable"),
        ("response", "unparsable"),
    }
    assert "rubric_repair" not in labels(gateway)
    for prompt in ("perturbation", "rubric_assessment"):

        def spent(asked: str, inputs: Mapping[str, str], name: str, count: int, p: str = prompt) -> Reply | None:
            return CallFailed("budget", "spent") if asked == p else None

        state, made_set, _ = await made(spent)
        assert made_set is None
        assert state["failed"] == "budget"


def test_halves_are_a_samples_own() -> None:
    """Every response is in one half; of an odd pool the first is larger; other samples and seeds divide it otherwise."""
    names = [f"model-{number}" for number in range(7)]
    seen: set[Any] = set()
    for sample in map(str, range(20)):
        first, second = halves(names, sample, 0)
        assert sorted([*first, *second]) == list(range(7))
        assert len(first) == 4
        seen.add(tuple(first))
    assert len(seen) > 5
    assert halves(["a"], "s", 0) == ([0], [])
