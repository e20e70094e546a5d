"""The closed loop on one answer, with scripted models: what each arm is told, and what peers and judges may do wrong."""

from collections.abc import Callable
from typing import Any

import pytest

from dokimasia.domain.call import Chat, ModelCall, ModelRef, ModelSpec
from dokimasia.domain.criterion import CriteriaSet, Criterion
from dokimasia.domain.identity import value_id
from dokimasia.domain.judgement import CheckpointScores, Provenance, Response
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.refinement import Arm, Hint, Refined
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import CallFailed, ConfigError, InputError
from dokimasia.gateway.doubles import FunctionGateway
from dokimasia.graphs.context import Context
from dokimasia.graphs.refinement.one_refinement import refine_answer, refinement_runnable
from dokimasia.prompts import Recognised, recognise
from dokimasia.storage.memory import MemoryStore

IMAGE = ImageRef(sha256="cd" * 32, media_type="image/png", width=8, height=8)
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
CLEAN = "<hint>Follow the top edge over to the axis.</hint>"
LEAKING = "<hint>Read it off: eleven units.</hint>"
PROVENANCE = Provenance(call="0" * 32, model="judge", prompt="checkpoints", prompt_version=1, prompt_hash="x")

Says = Callable[[Recognised, Chat], Any]


def judgement(*scores: int) -> CheckpointScores:
    weights = CRITERIA.weights
    mean = sum(w * s for w, s in zip(weights, scores, strict=True)) / sum(weights)
    source = Response(sample=SAMPLE.digest, model="m", text="Final answer: nine crates")
    return CheckpointScores(
        response=value_id(source), criteria=value_id(CRITERIA), scores=scores, score=mean, provenance=PROVENANCE
    )


def scores(*values: int) -> str:
    return "\n".join(f"{number} | score: [{value}]" for number, value in enumerate(values, start=1))


class World:
    """Models by what they say to each prompt; everything that was asked is kept."""

    def __init__(self, **says: Any) -> None:
        self.says = {
            "candidate": "Final answer: nine crates",
            "retry": "Final answer: nine crates",
            "self_feedback": "Final answer: seventeen crates",
            "peer_feedback": "Final answer: seventeen crates",
            "peer_hint": CLEAN,
            "hint_rewrite": CLEAN,
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

    def named(self, name: str) -> list[tuple[str, str, dict[str, str], Chat]]:
        return [one for one in self.asked if one[0] == name]

    async def refine(self, arm: Arm, *, before: tuple[int, ...] = (1, 2, 5), **options: Any) -> Refined:
        return await refine_answer(
            SAMPLE,
            "Final answer: nine crates",
            CRITERIA,
            context=self.context,
            model="m",
            judgement=judgement(*before),
            arm=arm,
            **options,
        )


PEERS = {"p": "Final answer: seventeen crates, says p", "q": "Final answer: seventeen crates, says q"}


@pytest.mark.parametrize(
    ("arm", "prompt", "draw"),
    [("again", "candidate", 10_000), ("retry", "retry", 10_000), ("self", "self_feedback", 10_000)],
)
async def test_each_arm_asks_its_prompt_once(arm: Arm, prompt: str, draw: int) -> None:
    """One call answers, as a draw of its own, and one judge call scores all criteria; the image is seen, no truth is."""
    world = World()
    done = await world.refine(arm)
    answers = [one for one in world.asked if one[1] == "m"]
    assert [one[0] for one in answers] == [prompt]
    assert answers[0][3].repeat == draw
    assert answers[0][3].messages[-1].images == (IMAGE,)
    text = "".join(message.text for message in answers[0][3].messages)
    assert not any(truth in text for truth in ("eleven units", "six units", "seventeen"))
    assert len(world.named("checkpoints")) == 1
    assert (done.before, done.after, done.stopped) == ((1, 2, 5), (4, 4, 4), "all solved")
    assert done.response is not None
    assert done.response.arm == arm


async def test_self_names_the_questions_of_failed_atoms_only() -> None:
    """The solved third atom is not named; the final answer is checked by rule, and which one is kept."""
    world = World()
    done = await world.refine("self")
    points = world.named("self_feedback")[0][2]["points"]
    assert "first bar" in points
    assert "second bar" in points
    assert "axis" not in points
    assert done.final is not None
    assert (done.final.verdict, done.final.rule, done.final.answer) == ("right", "exact", "seventeen crates")


async def test_half_of_the_failed_atoms_is_withheld() -> None:
    """What is withheld is in no feedback, and both parts are in the step."""
    world = World()
    done = await world.refine("self", before=(1, 2, 1), withhold=0.5)
    step = done.steps[0]
    assert (len(step.shown), len(step.withheld)) == (2, 1)
    points = world.named("self_feedback")[0][2]["points"]
    for atom in (1, 2, 3):
        assert (CRITERIA.criteria[atom - 1].question in points) == (atom in step.shown)


async def test_peer_hints_come_from_who_solved_the_atom() -> None:
    """A peer is asked with its own answer, without ground truth or reference; where none solved it, the question stands alone."""

    def judged(found: Recognised, call: Chat) -> str:
        if "says p" in found.inputs["response"]:
            return scores(5, 1, 1)
        return scores(1, 1, 5) if "says q" in found.inputs["response"] else scores(5, 5, 5)

    world = World(checkpoints=judged)
    done = await world.refine("peer", peers=PEERS)
    [asked] = world.named("peer_hint")
    assert asked[1] == "p"
    assert set(asked[2]) == {"question", "point", "own_answer"}
    assert asked[2]["own_answer"] == PEERS["p"]
    assert asked[3].messages[-1].images == (IMAGE,)
    first, second = done.feedback[0].points
    assert (first.atom, first.peer, first.hint) == (1, "p", "Follow the top edge over to the axis.")
    assert (second.atom, second.peer, second.hint, second.fallback) == (2, "", "", "no peer")
    assert "Follow the top edge" in world.named("peer_feedback")[0][2]["points"]


async def test_equal_peers_take_turns() -> None:
    """Two peers that solved everything give one hint each."""
    world = World()
    await world.refine("peer", peers=PEERS)
    assert sorted(one[1] for one in world.named("peer_hint")) == ["p", "q"]


async def test_without_any_peer_it_is_what_self_is() -> None:
    """Where no peer solved anything the model is asked what the arm `self` asks, to the word."""
    world = World(
        checkpoints=lambda found, call: scores(1, 1, 1) if "says" in found.inputs["response"] else scores(5, 5, 5)
    )
    peer = await world.refine("peer", peers=PEERS)
    alone = await world.refine("self")
    assert world.named("self_feedback")[0][3] == world.named("self_feedback")[1][3]
    assert [point.fallback for point in peer.feedback[0].points] == ["no peer", "no peer"]
    assert [point.fallback for point in alone.feedback[0].points] == ["", ""]


async def test_a_leaking_hint_is_rewritten_once() -> None:
    """The peer is shown what its own hint gives away; the second wording is passed on, and both are kept."""
    world = World(peer_hint=LEAKING)
    done = await world.refine("peer", peers={"p": PEERS["p"]}, before=(1, 5, 5))
    [rewritten] = world.named("hint_rewrite")
    assert rewritten[2]["hint"] == "Read it off: eleven units."
    assert "seventeen" not in rewritten[2]["given_away"]
    [point] = done.feedback[0].points
    assert (point.hint, point.rewritten, point.asked, point.fallback) == (
        "Follow the top edge over to the axis.",
        True,
        2,
        "",
    )
    assert point.leaks
    assert len(point.hints) == 2


async def test_a_hint_that_still_leaks_is_left_out() -> None:
    """After one rewriting the hint is dropped and counted, and nothing of it is sent."""
    world = World(peer_hint=LEAKING, hint_rewrite=LEAKING)
    done = await world.refine("peer", peers={"p": PEERS["p"]}, before=(1, 5, 5))
    [point] = done.feedback[0].points
    assert (point.hint, point.rewritten, point.fallback, len(point.hints)) == ("", True, "leak", 2)
    assert all([(await world.store.get(Hint, id)).leaks for id in point.hints])
    assert len(world.named("hint_rewrite")) == 1
    assert "eleven" not in world.named("self_feedback")[0][2]["points"]


async def test_a_question_that_leaks_is_left_out() -> None:
    """A failed atom's question that gives a truth away is not sent; with nothing left to say the model is told no more."""
    told = CRITERIA.criteria[0].model_copy(update={"question": "Is the first bar eleven units high?"})
    criteria = CriteriaSet(criteria=(told, *CRITERIA.criteria[1:]))
    world = World()
    done = await refine_answer(
        SAMPLE,
        "Final answer: nine crates",
        criteria,
        context=world.context,
        model="m",
        judgement=judgement(1, 5, 5),
        arm="self",
    )
    [point] = done.feedback[0].points
    assert point.dropped
    assert [one[0] for one in world.asked if one[1] == "m"] == ["retry"]


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        ("I'm sorry, but I can't help with this request.", 2),
        ("<hint>You are brilliant! Great work!</hint>", 2),
        (f"<hint>{'word ' * 5_000}</hint>", 2),
        ("Just look.", 2),
        (CallFailed("api_error", "gone"), 1),
    ],
    ids=["refuses", "flatters", "5000 words", "no hint", "no reply"],
)
async def test_a_peer_that_gives_no_hint_is_bounded_and_counted(reply: Any, calls: int) -> None:
    """It is asked once more where there is something to mend; then the point goes without a hint, and says why."""
    world = World(peer_hint=reply)
    done = await world.refine("peer", peers={"p": PEERS["p"]}, before=(1, 5, 5))
    assert len(world.named("peer_hint")) == calls
    [point] = done.feedback[0].points
    assert (point.hint, point.fallback, point.asked) == ("", "no hint", 1)
    assert done.failure is None
    assert [one[0] for one in world.asked if one[1] == "m"] == ["self_feedback"]


async def test_the_judge_looks_at_what_the_rules_let_pass() -> None:
    """Unless it is turned off the judge is asked; its prompt holds the secrets, the peer's never does."""
    world = World(
        leak_check=lambda found, call: f"x\n\nVerdict: [[{'leak' if 'top edge' in found.inputs['text'] else 'clean'}]]"
    )
    done = await world.refine("peer", peers={"p": PEERS["p"]}, before=(1, 5, 5))
    [point] = done.feedback[0].points
    assert (point.hint, point.fallback) == ("", "leak")
    assert {leak.found_by for leak in point.leaks} == {"judge"}
    assert all("eleven units" in one[2]["secrets"] for one in world.named("leak_check"))
    unasked = World()
    await unasked.refine("peer", peers={"p": PEERS["p"]}, before=(1, 5, 5), leak_judge=False)
    assert unasked.named("leak_check") == []


async def test_what_the_rules_stop_no_judge_is_asked_about() -> None:
    """A hint that says the truth outright is stopped without a call; its second wording is shown to the judge."""
    world = World(peer_hint=LEAKING)
    await world.refine("peer", peers={"p": PEERS["p"]}, before=(1, 5, 5))
    texts = [one[2]["text"] for one in world.named("leak_check")]
    assert not any("eleven" in text for text in texts)
    assert sum(text == "Follow the top edge over to the axis." for text in texts) == 1


async def test_texts_that_are_clean_one_by_one_are_judged_together() -> None:
    """What the judge finds in the feedback as a whole takes the last point out of it, and is looked at once more."""
    world = World(
        leak_check=lambda found, call: f"x\n\nVerdict: [[{'leak' if found.inputs['text'].count('?') > 1 else 'clean'}]]"
    )
    done = await world.refine("self")
    first, second = done.feedback[0].points
    assert (first.dropped, second.dropped) == (False, True)
    assert {leak.found_by for leak in second.leaks} == {"judge"}


async def test_a_leak_verdict_that_cannot_be_read_is_counted_and_never_clean() -> None:
    """The hint passes on the word of the rules, and the point says how many texts no judge has judged."""
    world = World(leak_check="I would rather not say.")
    done = await world.refine("peer", peers={"p": PEERS["p"]}, before=(1, 5, 5))
    [point] = done.feedback[0].points
    assert point.hint == "Follow the top edge over to the axis."
    assert (point.unjudged, point.leaks) == (3, ())


async def test_rounds_go_on_while_the_shown_atoms_improve() -> None:
    """A second round names what still fails, by another draw; it ends when nothing shown improves."""
    given = iter([scores(4, 2, 5), scores(4, 2, 5)])
    world = World(checkpoints=lambda found, call: next(given))
    done = await world.refine("self", rounds=3)
    assert [step.stopped for step in done.steps] == ["", "nothing improved"]
    first, second = world.named("self_feedback")
    assert "first bar" in first[2]["points"]
    assert "first bar" not in second[2]["points"]
    assert (first[3].repeat, second[3].repeat) == (10_000, 20_000)


async def test_the_final_answer_plays_no_part_in_stopping() -> None:
    """A right final answer does not end the rounds, since it is not what the arm may look at."""
    given = iter([scores(2, 2, 5), scores(3, 3, 5), scores(3, 4, 5)])
    world = World(checkpoints=lambda found, call: next(given))
    done = await world.refine("self", rounds=3)
    assert done.final is not None
    assert done.final.verdict == "right"
    assert [step.stopped for step in done.steps] == ["", "", "rounds"]


async def test_several_judgements_are_averaged_and_kept() -> None:
    """An unsteady judge is asked as often as wanted, each time as a draw of its own."""
    world = World(checkpoints=lambda found, call: scores(5, 5, 5) if call.repeat % 2_000 == 0 else scores(1, 1, 1))
    done = await world.refine("self", judgements=2)
    assert done.after == (3, 3, 3)
    assert [one[3].repeat for one in world.named("checkpoints")] == [10_000, 11_000]
    assert len(done.steps[0].judgements) == 2


async def test_an_answer_to_the_feedback_is_no_answer_to_the_question() -> None:
    """A list of answers to the points states no final answer: the judge compares it whole, and it is wrong."""
    world = World(self_feedback="1. eleven units\n2. six units")
    done = await world.refine("self")
    assert done.final is not None
    assert (done.final.verdict, done.final.rule) == ("wrong", "judge")
    assert world.named("equivalence")[0][2]["answer"] == "1. eleven units\n2. six units"


async def test_a_verdict_that_cannot_be_read_is_unknown() -> None:
    """The judge is asked twice; then whether the answer is right stays unknown, with the kind of failure."""
    world = World(self_feedback="It depends.", equivalence="Perhaps.")
    done = await world.refine("self")
    assert len(world.named("equivalence")) == 2
    assert done.final is not None
    assert (done.final.verdict, done.final.rule, done.final.failure) == ("unknown", "unreadable", "unparsable")
    assert done.failure is None


@pytest.mark.parametrize(
    ("prompt", "reply", "kind"),
    [
        ("self_feedback", CallFailed("api_error", "gone"), "api_error"),
        ("self_feedback", "", "unparsable"),
        ("checkpoints", "no scores", "unparsable"),
        ("checkpoints", CallFailed("budget", "spent"), "budget"),
        ("equivalence", CallFailed("budget", "spent"), "budget"),
    ],
)
async def test_a_failure_is_named_and_never_a_number(prompt: str, reply: Any, kind: str) -> None:
    """A round without an answer or a judgement ends its arm as failed, with the kind, and has no scores."""
    world = World(**{"self_feedback": "Many crates.", prompt: reply})
    done = await world.refine("self")
    assert (done.failure, done.stopped, done.after) == (kind, "failed", ())


async def test_nothing_failed_by_the_criteria() -> None:
    """A wrong answer whose atoms are all solved leaves nothing to say: it is asked again as in a retry."""
    world = World()
    done = await world.refine("self", before=(5, 4, 4), rounds=3)
    assert [one[0] for one in world.asked if one[1] == "m"] == ["retry"]
    assert done.stopped == "nothing to say"


async def test_the_judge_scores_an_answer_that_has_no_scores() -> None:
    """Without a judgement the judge is asked first; where it fails, nothing else is asked."""
    world = World(checkpoints="no scores")
    done = await refine_answer(SAMPLE, "Nine.", CRITERIA, context=world.context, model="m")
    assert (done.failure, done.response) == ("unparsable", None)
    assert {one[0] for one in world.asked} == {"checkpoints"}


async def test_the_earlier_answer_is_shown_on_request() -> None:
    """By default a model does not see what it said; on request it does, in every arm but `again`."""
    world = World()
    await world.refine("self", show_answer=True)
    await world.refine("again", show_answer=True)
    assert world.named("self_feedback")[0][2]["earlier_answer"] == "Final answer: nine crates"
    assert "nine crates" not in world.named("candidate")[0][3].messages[-1].text


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
    assert [one[0] for one in world.asked if one[1] == "m"] == ["retry"]
