"""The closed loop on one answer, with scripted models: what each arm is told, and what peers and judges may do wrong."""

import json
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from dokimasia.domain.call import Chat, ModelCall, ModelRef, ModelSpec
from dokimasia.domain.criterion import CriteriaSet, Criterion, ReferenceChain
from dokimasia.domain.identity import value_id
from dokimasia.domain.judgement import CheckpointScores, Provenance, Response
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.refinement import Arm, Refined
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import CallFailed, ConfigError, InputError
from dokimasia.gateway.doubles import FunctionGateway
from dokimasia.graphs.context import Context
from dokimasia.graphs.refinement.one_refinement import refine_answer, refinement_runnable
from dokimasia.prompts import Recognised, recognise
from dokimasia.storage.memory import MemoryStore

IMAGE = ImageRef(sha256="cd" * 32, media_type="image/png", width=8, height=8)
Says = Callable[[Recognised, Chat], Any]

SAMPLE = Sample(
    id="one", prompt="What is the total of the two bars?", images=(IMAGE,), reference_answer="seventeen crates"
)
CRITERIA = CriteriaSet(
    criteria=(
        Criterion(question="How high is the first bar?", ground_truth="eleven units", weight=4),
        Criterion(question="How high is the second bar?", ground_truth="six units", weight=4),
        Criterion(question="What unit does the axis give?", ground_truth="wooden crates", weight=2),
    )
)
MODELS = {name: ModelSpec(ref=ModelRef(name=name, model=f"test/{name}")) for name in ("judge", "m", "p", "q")}
GOOD = "Follow the top edge over to the axis."


def hints(*texts: str) -> str:
    return "\n".join(f"<hint {n}>\n{text}\n</hint>" for n, text in enumerate(texts, start=1))


def same_for_all(text: str) -> "Says":
    """Give the same hint on every point."""
    return lambda found, call: hints(*[text] * len(json.loads(found.inputs["points"])))


LEAKING = "Follow the top edge. Read it off: eleven units."
WRONG, RIGHT = "The final answer is wrong.", "The final answer is right."
PROVENANCE = Provenance(call="0" * 32, model="judge", prompt="checkpoints", prompt_version=1, prompt_hash="x")


def judgement(*scores: int, criteria: CriteriaSet = CRITERIA) -> CheckpointScores:
    weights = criteria.weights
    mean = sum(w * s for w, s in zip(weights, scores, strict=True)) / sum(weights)
    source = Response(sample=SAMPLE.digest, model="m", text="Final answer: nine crates")
    return CheckpointScores(
        response=value_id(source), criteria=value_id(criteria), scores=scores, score=mean, provenance=PROVENANCE
    )


def scores(*values: int) -> str:
    return "\n".join(f"{number} | score: [{value}]" for number, value in enumerate(values, start=1))


class World:
    """Models by what they say to each prompt; everything that was asked is kept."""

    def __init__(self, **says: Any) -> None:
        self.says = {
            "answer_again": "Final answer: seventeen crates",
            "answer_again_published": "Final answer: seventeen crates",
            "candidate_plain": "Final answer: nine crates",
            "peer_hint": same_for_all(GOOD),
            "hint_rewrite": same_for_all(GOOD),
            "equivalence": "No.\n\nVerdict: [[different]]",
            "checkpoints": scores(4, 4, 4),
            "leak_check": "It only says where to look.\n\nVerdict: [[clean]]",
            **says,
        }
        self.asked: list[tuple[str, str, dict[str, str], Chat]] = []
        self.gateway = FunctionGateway(self._reply)
        self.store = MemoryStore()
        self.context = Context(self.gateway, self.store, GraphOptions(judge="judge", models=MODELS))

    def _reply(self, call: ModelCall) -> Any:
        assert isinstance(call, Chat)
        found = recognise(call.messages)
        assert found is not None
        self.asked.append((found.name, call.model.name, found.inputs, call))
        said = self.says[found.name]
        return said(found, call) if callable(said) else said

    @property
    def feedback(self) -> list[str]:
        """What the model was told, a round each."""
        return [one[2]["feedback"] for one in self.asked if one[0].startswith("answer_again")]

    def named(self, name: str) -> list[tuple[str, str, dict[str, str], Chat]]:
        return [one for one in self.asked if one[0] == name]

    async def refine(self, arm: Arm, *, before: tuple[int, ...] = (1, 2, 5), **options: Any) -> Refined:
        return await refine_answer(
            SAMPLE,
            options.pop("answer", "Final answer: nine crates"),
            CRITERIA,
            context=self.context,
            model="m",
            judgement=judgement(*before),
            arm=arm,
            **options,
        )


PEERS = {"p": "Final answer: seventeen crates, says p", "q": "Final answer: seventeen crates, says q"}


async def test_all_arms_share_one_frame_and_draw_apart() -> None:
    """One prompt, one image, one earlier answer: the arms differ in the feedback alone, and each has a draw of its own."""
    seen: dict[str, Chat] = {}
    for arm in ("again", "retry", "self", "peer"):
        world = World()
        done = await world.refine(arm, peers={"p": PEERS["p"]})
        [(prompt, _, inputs, call)] = [one for one in world.asked if one[1] == "m"]
        assert (prompt, set(inputs)) == ("answer_again", {"question", "earlier_answer", "feedback"})
        assert inputs["earlier_answer"] == "Final answer: nine crates"
        assert call.messages[-1].images == (IMAGE,)
        text = "".join(message.text for message in call.messages)
        assert not any(truth in text for truth in ("eleven units", "six units", "seventeen"))
        assert done.steps[-1].draw == call.repeat
        assert done.response is not None
        assert done.response.arm == arm
        seen[arm] = call
    assert {arm: call.repeat for arm, call in seen.items()} == {
        "again": 11_000,
        "retry": 12_000,
        "self": 13_000,
        "peer": 14_000,
    }
    assert len({call.messages[0].text for call in seen.values()}) == 1


async def test_each_arm_is_told_what_is_the_case() -> None:
    """Nothing, that the answer is wrong, the questions of failed atoms with it, and hints beside them."""
    told: dict[str, str] = {}
    for arm in ("again", "retry", "self", "peer"):
        world = World()
        await world.refine(arm, peers={"p": PEERS["p"]})
        [told[arm]] = world.feedback
    assert "wrong" not in told["again"]
    assert told["retry"] == WRONG
    assert told["self"].startswith(WRONG)
    assert "first bar" in told["self"]
    assert "second bar" in told["self"]
    assert "axis" not in told["self"]
    assert GOOD in told["peer"]
    assert "hint" not in told["self"]


@pytest.mark.parametrize("arm", ["retry", "self", "peer"])
async def test_a_right_answer_is_never_called_wrong(arm: Arm) -> None:
    """What is right by the reference is told so, with what it did not show."""
    world = World()
    done = await world.refine(arm, answer="Final answer: seventeen crates", peers={"p": PEERS["p"]})
    assert done.answered_before == "right"
    [told] = world.feedback
    assert told.startswith(RIGHT)
    assert "wrong" not in told


async def test_a_right_answer_with_nothing_more_to_show_comes_back() -> None:
    """Nothing is asked of the model, and the answer is the one that it gave."""
    world = World()
    done = await world.refine("self", answer="Final answer: seventeen crates", before=(5, 4, 4))
    assert [one for one in world.asked if one[1] == "m"] == []
    assert done.response is not None
    assert (done.stopped, done.response.text, done.after) == (
        "nothing to say",
        "Final answer: seventeen crates",
        (5, 4, 4),
    )


async def test_without_a_reference_the_verdict_is_not_known_and_said_so() -> None:
    """Whether an answer is right is not made up where nobody can say."""
    world = World()
    bare = SAMPLE.model_copy(update={"reference_answer": None})
    given = judgement(1, 5, 5)
    await refine_answer(bare, "Nine.", CRITERIA, context=world.context, model="m", judgement=given)
    assert world.feedback[0].startswith("Whether the final answer is right is not known.")


async def test_later_rounds_are_told_of_the_last_answer() -> None:
    """An answer that came out right in the first round is told so in the second, and is the one that is shown."""
    given = iter([scores(3, 2, 5), scores(3, 2, 5), scores(4, 4, 5)])
    world = World(checkpoints=lambda found, call: next(given))
    await world.refine("self", rounds=2)
    assert [told.split(".")[0] for told in world.feedback] == ["The final answer is wrong", "The final answer is right"]
    assert world.named("answer_again")[1][2]["earlier_answer"] == "Final answer: seventeen crates"
    assert [one[3].repeat for one in world.named("answer_again")] == [13_000, 23_000]


async def test_the_final_answer_and_the_question_are_no_points() -> None:
    """An atom that is the final answer, or restates the question, is left out with its reason; the rest is fed back."""
    total = Criterion(question="What do both bars come to?", ground_truth="Seventeen crates.", weight=1)
    again = Criterion(question="What is the total of both bars?", ground_truth="A prime number", weight=1)
    criteria = CriteriaSet(criteria=(CRITERIA.criteria[0], total, again))
    sample = SAMPLE.model_copy(update={"prompt": "What is the total of both bars?"})
    world = World()
    given = judgement(1, 1, 1)
    done = await refine_answer(
        sample, "Final answer: nine", criteria, context=world.context, model="m", judgement=given, withhold=0.5
    )
    assert [(one.atom, one.why) for one in done.selection.unused] == [
        (2, "final answer"),
        (3, "restates the question"),
    ]
    assert (done.selection.shown, done.selection.withheld) == ((1,), ())
    published = await refine_answer(
        sample,
        "Final answer: nine",
        criteria,
        context=world.context,
        model="m",
        judgement=given,
        protocol="published",
    )
    assert published.selection.shown == (1, 2, 3)


async def test_the_chain_s_answer_counts_as_the_final_answer() -> None:
    """Without a reference the answer of the reference chain is what no point may be, and no hint may tell."""
    bare = SAMPLE.model_copy(update={"reference_answer": None})
    chain = ReferenceChain(reasoning="Eleven and six.", answer="17 crates")
    total = Criterion(question="What do both bars come to?", ground_truth="Together 17 crates", weight=1)
    criteria = CriteriaSet(criteria=(CRITERIA.criteria[0], CRITERIA.criteria[1], total))
    world = World(peer_hint=same_for_all("Both come to 17 crates."))
    done = await refine_answer(
        bare,
        "Nine.",
        criteria,
        context=world.context,
        model="m",
        judgement=judgement(1, 5, 1),
        chain=chain,
        arm="peer",
        peers={"p": PEERS["p"]},
    )
    assert [one.why for one in done.selection.unused] == ["final answer"]
    assert done.feedback[0].points[0].leaks


async def test_half_of_what_can_be_fed_back_is_withheld() -> None:
    """What is withheld is in no feedback, and both parts are kept; a single point is never withheld."""
    world = World()
    done = await world.refine("self", before=(1, 2, 1), withhold=0.5)
    assert (len(done.selection.shown), len(done.selection.withheld)) == (2, 1)
    for atom in (1, 2, 3):
        assert (CRITERIA.criteria[atom - 1].question in world.feedback[0]) == (atom in done.selection.shown)
    alone = await World().refine("self", before=(1, 5, 5), withhold=0.5)
    assert (alone.selection.shown, alone.selection.withheld) == ((1,), ())


async def test_one_call_brings_all_hints_of_an_answer() -> None:
    """The peer sees all points, its own answer, the failed one and what the reader will see; no truth, no reference."""
    world = World()
    done = await world.refine("peer", peers=PEERS)
    [(_, peer, inputs, call)] = world.named("peer_hint")
    assert set(inputs) == {"question", "points", "own_answer", "failed_answer", "reader", "form"}
    assert inputs["own_answer"] == PEERS[peer]
    assert inputs["failed_answer"] == "Final answer: nine crates"
    assert "their own answer" in inputs["reader"]
    assert WRONG in inputs["reader"]
    assert inputs["form"].count("<hint ") == 2
    assert call.messages[-1].images == (IMAGE,)
    assert {point.hint for point in done.feedback[0].points} == {GOOD}
    hidden = World()
    await hidden.refine("peer", peers=PEERS, hide_answer=True)
    [(_, _, inputs, _)] = hidden.named("peer_hint")
    assert "failed_answer" not in inputs
    assert "earlier_answer" not in hidden.named("answer_again")[0][2]


async def test_published_each_point_is_a_call_and_nobody_sees_an_answer() -> None:
    """As in the paper: a hint for each point by itself, no earlier answer; and `again` is the question alone."""
    world = World()
    await world.refine("peer", peers=PEERS, protocol="published")
    assert len(world.named("peer_hint")) == 2
    assert all("failed_answer" not in one[2] for one in world.named("peer_hint"))
    [(_, _, inputs, _)] = world.named("answer_again_published")
    assert set(inputs) == {"question", "feedback"}
    await world.refine("again", protocol="published")
    assert len(world.named("candidate_plain")) == 1


async def test_hints_come_from_who_solved_most() -> None:
    """Who solved both points hints at both; a point that it did not solve is asked of another, one that none did of nobody."""

    def judged(found: Recognised, call: Chat) -> str:
        if "says p" in found.inputs["response"]:
            return scores(5, 1, 1)
        return scores(4, 4, 1) if "says q" in found.inputs["response"] else scores(5, 5, 5)

    world = World(checkpoints=judged)
    done = await world.refine("peer", peers=PEERS, before=(1, 1, 1))
    assert [(point.peer, point.fallback) for point in done.feedback[0].points] == [
        ("q", ""),
        ("q", ""),
        ("", "no peer"),
    ]
    assert [one[1] for one in world.named("peer_hint")] == ["q"]


async def test_equal_peers_take_turns_by_round() -> None:
    """In the second round another peer hints at what still fails."""
    given = iter([scores(5, 5, 5), scores(5, 5, 5), scores(3, 4, 5), scores(3, 4, 5), scores(4, 4, 5)])
    world = World(checkpoints=lambda found, call: next(given))
    await world.refine("peer", peers=PEERS, rounds=2)
    assert sorted(one[1] for one in world.named("peer_hint")) == ["p", "q"]


async def test_without_any_peer_it_is_what_self_is_told() -> None:
    """Where no peer solved anything the feedback is that of the arm `self`, to the word."""
    world = World(
        checkpoints=lambda found, call: scores(1, 1, 1) if "says" in found.inputs["response"] else scores(5, 5, 5)
    )
    peer = await world.refine("peer", peers=PEERS)
    await world.refine("self")
    assert world.feedback[0] == world.feedback[1]
    assert [point.fallback for point in peer.feedback[0].points] == ["no peer", "no peer"]


async def test_a_leaking_hint_is_rewritten_once_by_its_very_words() -> None:
    """The peer is shown the passage, whole, with its reason, and no truth; the second wording is passed on."""
    world = World(peer_hint=same_for_all(LEAKING))
    done = await world.refine("peer", peers={"p": PEERS["p"]}, before=(1, 5, 5))
    [rewritten] = world.named("hint_rewrite")
    assert rewritten[2]["given_away"] == (
        '- in hint 1: "Read it off: eleven units.": it says in the same words what is to be found out'
    )
    assert LEAKING in rewritten[2]["hints"]
    [point] = done.feedback[0].points
    assert (point.hint, point.rewritten, point.asked, point.fallback) == (GOOD, True, 2, "")
    assert [wording.text for wording in point.wordings] == [LEAKING, GOOD]


async def test_a_hint_that_still_leaks_is_left_out() -> None:
    """After one rewriting the hint is dropped and counted, and nothing of it is sent."""
    world = World(peer_hint=same_for_all(LEAKING), hint_rewrite=same_for_all(LEAKING))
    done = await world.refine("peer", peers={"p": PEERS["p"]}, before=(1, 5, 5))
    [point] = done.feedback[0].points
    assert (point.hint, point.rewritten, point.fallback, len(point.wordings)) == ("", True, "leak", 2)
    assert all(wording.leaks for wording in point.wordings)
    assert len(world.named("hint_rewrite")) == 1
    assert "eleven" not in world.feedback[0]


async def test_only_the_hints_that_leak_are_rewritten() -> None:
    """A clean hint beside one that leaks stays as it is."""
    world = World(peer_hint=hints(LEAKING, "Mind the gap."), hint_rewrite=hints("Another way."))
    done = await world.refine("peer", peers={"p": PEERS["p"]})
    assert [point.hint for point in done.feedback[0].points] == ["Another way.", "Mind the gap."]
    assert [point.asked for point in done.feedback[0].points] == [2, 1]


async def test_solved_atoms_and_every_answer_are_secrets_once() -> None:
    """A hint may tell no ground truth at all, the reference in other signs is listed once, and a method not at all."""
    way = Criterion(question="How is the total found?", ground_truth="By adding both bars", weight=1)
    criteria = CriteriaSet(criteria=(*CRITERIA.criteria, way))
    chain = ReferenceChain(reasoning="Eleven and six.", answer="Seventeen crates.")
    world = World(peer_hint=same_for_all("The second bar is six units high."), checkpoints=scores(5, 5, 5, 5))
    given = judgement(1, 5, 5, 5, criteria=criteria)
    done = await refine_answer(
        SAMPLE,
        "Nine.",
        criteria,
        context=world.context,
        model="m",
        judgement=given,
        chain=chain,
        arm="peer",
        peers={"p": PEERS["p"]},
    )
    assert done.feedback[0].points[0].leaks[0].excerpt == "The second bar is six units high."
    listed = orjson.loads(world.named("leak_check")[0][2]["secrets"])
    asked = [one.question for one in CRITERIA.criteria]
    assert [one.get("question", "") for one in listed] == [*asked, ""], "each with the question that it answers"
    assert [one["secret"] for one in listed] == ["eleven units", "six units", "wooden crates", "seventeen crates"]


async def test_a_question_that_leaks_is_no_point() -> None:
    """An atom's question that gives a truth away is never sent; with nothing left to name the model is told no more."""
    told = CRITERIA.criteria[0].model_copy(update={"question": "Is the first bar eleven units high?"})
    criteria = CriteriaSet(criteria=(told, *CRITERIA.criteria[1:]))
    world = World()
    given = judgement(1, 5, 5)
    done = await refine_answer(SAMPLE, "Nine.", criteria, context=world.context, model="m", judgement=given, arm="self")
    [unused] = done.selection.unused
    assert (unused.atom, unused.why) == (1, "leak")
    assert unused.leaks
    assert world.feedback == [WRONG]


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        ("I'm sorry, but I can't help with this request.", 2),
        (hints("You are brilliant! Great work!"), 2),
        (hints("word " * 5_000), 2),
        ("Just look.", 2),
        (hints("none"), 1),
        (CallFailed("api_error", "gone"), 1),
    ],
    ids=["refuses", "flatters", "5000 words", "no hint", "none to give", "no reply"],
)
async def test_a_peer_that_gives_no_hint_is_bounded_and_counted(reply: Any, calls: int) -> None:
    """It is asked once more where there is something to mend; then the point goes without a hint, and says why."""
    world = World(peer_hint=reply)
    done = await world.refine("peer", peers={"p": PEERS["p"]}, before=(1, 5, 5))
    assert len(world.named("peer_hint")) == calls
    [point] = done.feedback[0].points
    assert (point.hint, point.fallback, point.asked) == ("", "no hint", 1)
    assert done.failure is None


async def test_the_judge_looks_at_what_the_rules_let_pass() -> None:
    """Unless it is turned off the judge is asked, once for all questions and once for the hints; it sees the secrets."""
    tells = 'x\n\nLeak: "the top edge" | by: described\nVerdict: [[leak]]'
    clean = "x\n\nVerdict: [[clean]]"
    world = World(leak_check=lambda found, call: tells if "top edge" in found.inputs["text"] else clean)
    done = await world.refine("peer", peers={"p": PEERS["p"]}, before=(1, 5, 5))
    [point] = done.feedback[0].points
    assert (point.hint, point.fallback) == ("", "leak")
    assert {(leak.found_by, leak.excerpt) for leak in point.leaks} == {("judge", "the top edge")}
    assert world.named("hint_rewrite")[0][2]["given_away"] == (
        '- in hint 1: "the top edge": only one thing fits what it describes'
    )
    assert all("eleven units" in one[2]["secrets"] for one in world.named("leak_check"))
    unasked = World()
    await unasked.refine("peer", peers={"p": PEERS["p"]}, before=(1, 5, 5), leak_judge=False)
    assert unasked.named("leak_check") == []
    looked = World()
    await looked.refine("peer", peers={"p": PEERS["p"]})
    assert len(looked.named("leak_check")) == 2


async def test_what_the_rules_stop_no_judge_is_asked_about() -> None:
    """A hint that says the truth outright is stopped without a call; its second wording is shown to the judge."""
    world = World(peer_hint=same_for_all(LEAKING))
    await world.refine("peer", peers={"p": PEERS["p"]}, before=(1, 5, 5))
    texts = [one[2]["text"] for one in world.named("leak_check")]
    assert not any("eleven" in text for text in texts)
    assert sum(GOOD in text for text in texts) == 1


async def test_hints_that_are_clean_one_by_one_are_judged_together() -> None:
    """What the judge finds in the hints as a whole, in no words of theirs, takes the last one out, until nothing is found."""
    leak = "x\n\nVerdict: [[leak]]"
    world = World(leak_check=lambda found, call: leak if found.inputs["text"].count(GOOD) > 1 else "Verdict: [[clean]]")
    done = await world.refine("peer", peers={"p": PEERS["p"]})
    first, second = done.feedback[0].points
    assert (first.hint, second.hint, second.fallback) == (GOOD, "", "leak")
    assert {leak.found_by for leak in second.leaks} == {"judge"}


async def test_a_leak_verdict_that_cannot_be_read_is_counted_and_never_clean() -> None:
    """The hint passes on the word of the rules, and the point says that no judge has judged it."""
    world = World(leak_check="I would rather not say.")
    done = await world.refine("peer", peers={"p": PEERS["p"]}, before=(1, 5, 5))
    [point] = done.feedback[0].points
    assert point.hint == GOOD
    assert (point.unjudged, point.leaks, done.selection.unjudged) == (1, (), True)


async def test_rounds_go_on_while_the_shown_atoms_improve() -> None:
    """A second round names what still fails, by another draw; it ends when nothing shown improves."""
    given = iter([scores(4, 2, 5)] * 4)
    world = World(checkpoints=lambda found, call: next(given))
    done = await world.refine("self", rounds=3)
    assert [step.stopped for step in done.steps] == ["", "", "nothing improved"]
    first, second = world.feedback
    assert "first bar" in first
    assert "first bar" not in second


async def test_what_stops_the_rounds_is_no_part_of_the_estimate() -> None:
    """A lucky judgement ends the rounds; the score is that of another draw. As published one draw does both."""

    def lucky(_: Any, call: Chat) -> str:
        return scores(5, 5, 5) if call.repeat % 10_000 == 1_000 else scores(2, 2, 5)

    world = World(checkpoints=lucky)
    done = await world.refine("self", rounds=3)
    assert [step.stopped for step in done.steps] == ["", "all solved"]
    assert done.after == (2, 2, 5)
    last = done.steps[-1]
    assert last.decided is not None
    assert last.decided not in last.judgements
    world = World(checkpoints=lambda found, call: scores(5, 5, 5))
    done = await world.refine("self", rounds=3, protocol="published")
    assert (done.after, done.steps[-1].decided) == ((5, 5, 5), None)


async def test_the_final_answer_plays_no_part_in_stopping() -> None:
    """A right final answer does not end the rounds, since it is not what the arm may look at."""
    given = iter([scores(2, 2, 5)] * 2 + [scores(3, 3, 5)] * 2 + [scores(3, 4, 5)])
    world = World(checkpoints=lambda found, call: next(given))
    done = await world.refine("self", rounds=3)
    assert done.final is not None
    assert done.final.verdict == "right"
    assert [step.stopped for step in done.steps] == ["", "", "", "rounds"]


async def test_several_judgements_are_averaged_and_kept() -> None:
    """An unsteady judge is asked as often as wanted, each time as a draw of its own."""
    world = World(checkpoints=lambda found, call: scores(5, 5, 5) if call.repeat % 2_000 == 0 else scores(1, 1, 1))
    done = await world.refine("self", judgements=2)
    assert done.after == (3, 3, 3)
    assert [one[3].repeat for one in world.named("checkpoints")] == [10_000, 11_000]
    assert len(done.steps[1].judgements) == 2


async def test_an_answer_to_the_feedback_is_no_answer_to_the_question() -> None:
    """A list of answers to the points states no final answer: the judge compares it whole, and it is wrong."""
    world = World(answer_again="1. eleven units\n2. six units")
    done = await world.refine("self")
    assert done.final is not None
    assert (done.final.verdict, done.final.rule) == ("wrong", "judge")
    assert world.named("equivalence")[0][2]["answer"] == "1. eleven units\n2. six units"


async def test_a_verdict_that_cannot_be_read_is_unknown() -> None:
    """The judge is asked twice; then whether the answer is right stays unknown, with the kind of failure."""
    world = World(answer_again="It depends.", equivalence="Perhaps.")
    done = await world.refine("self")
    assert len(world.named("equivalence")) == 2
    assert done.final is not None
    assert (done.final.verdict, done.final.rule, done.final.failure) == ("unknown", "unreadable", "unparsable")
    assert done.failure is None


@pytest.mark.parametrize(
    ("prompt", "reply", "kind"),
    [
        ("answer_again", CallFailed("api_error", "gone"), "api_error"),
        ("answer_again", "", "unparsable"),
        ("checkpoints", "no scores", "unparsable"),
        ("checkpoints", CallFailed("budget", "spent"), "budget"),
        ("equivalence", CallFailed("budget", "spent"), "budget"),
    ],
)
async def test_a_failure_is_named_and_never_a_number(prompt: str, reply: Any, kind: str) -> None:
    """A round without an answer or a judgement ends its arm as failed, with the kind, and has no scores."""
    world = World(**{"answer_again": "Many crates.", prompt: reply})
    done = await world.refine("self")
    assert (done.failure, done.stopped, done.after) == (kind, "failed", ())


async def test_nothing_failed_by_the_criteria() -> None:
    """A wrong answer whose atoms are all solved leaves no point: it is told that it is wrong, and no more."""
    world = World()
    done = await world.refine("self", before=(5, 4, 4), rounds=3)
    assert world.feedback == [WRONG]
    assert done.stopped == "nothing to say"


async def test_the_judge_scores_an_answer_that_has_no_scores() -> None:
    """Without a judgement the judge is asked first; where it fails, nothing else is asked."""
    world = World(checkpoints="no scores")
    done = await refine_answer(SAMPLE, "Nine.", CRITERIA, context=world.context, model="m")
    assert (done.failure, done.response) == ("unparsable", None)
    assert {one[0] for one in world.asked} == {"checkpoints"}


async def test_what_cannot_be_is_said() -> None:
    """A model that the context lacks, an arm that asks nothing, and peers that are none are the caller's mistakes."""
    world = World()
    with pytest.raises(ConfigError, match=r"not among the context's models: x; there are: judge, m, p, q"):
        await refine_answer(SAMPLE, "Nine.", CRITERIA, context=world.context, model="x")
    with pytest.raises(InputError, match="'self' needs none"):
        await world.refine("peer")
    with pytest.raises(InputError, match="'self' needs none"):
        await world.refine("peer", peers={"m": "Nine."})
    with pytest.raises(InputError, match="as it is"):
        await world.refine("original")


async def test_the_runnable_brings_its_own_context() -> None:
    """The same as a LangChain runnable: options given when it is made, values when it is called."""
    world = World()
    done = await refinement_runnable(world.context, arm="retry").ainvoke(
        {"sample": SAMPLE, "response": "Nine.", "criteria": CRITERIA, "model": "m", "judgement": judgement(1, 1, 1)}
    )
    assert done.arm == "retry"
    assert world.feedback == [WRONG]
