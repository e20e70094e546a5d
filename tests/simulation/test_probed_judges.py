"""Simulated judges that are probed: what is planted in them comes out of what they say, and equal calls agree."""

import hashlib
from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import pytest

from dokimasia.agents.asking import Ask
from dokimasia.agents.blindspots import compare_answers, read_justification, score_answer, write_reference
from dokimasia.domain.blindspots import NEUTRAL, OVERALL, PUBLISHED, Evaluator, paradigm_of
from dokimasia.domain.criterion import Box
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.gold_answers import faults_in_text, gold_answer, plant_error
from dokimasia.simulation.image_edits import PlantedEdit
from dokimasia.simulation.judging.probes import IMAGINED, MOST_LOOKS, JudgedImage, miss_rate, probe_reply
from dokimasia.simulation.picture_content import PictureContent, content_of_scene
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.requests import Inputs
from dokimasia.simulation.scene import DOMAINS
from dokimasia.simulation.scenes import make_scene
from dokimasia.simulation.visibility import WHOLE
from dokimasia.tools.registry import TOOLS

TEXTS, IMAGES = error_dimensions("image-to-text"), error_dimensions("text-to-image")
ZOOM = (TOOLS["zoom"].spec,)
SMALL, LARGE = Box(x0=0.4, y0=0.4, x1=0.45, y1=0.45), Box(x0=0.1, y0=0.1, x1=0.9, y1=0.9)


@cache
def pictures() -> list[PictureContent]:
    """The content of sixty scenes of each domain."""
    return [content_of_scene(make_scene(domain, seed)) for domain, seed in product(DOMAINS, range(60))]


def ref(name: str) -> ImageRef:
    """An image that is told apart by its name alone."""
    return ImageRef(sha256=hashlib.sha256(name.encode()).hexdigest(), media_type="image/png", width=64, height=64)


def said(judge: JudgeProfile, what: Ask[Any], shown: Sequence[JudgedImage], **how: Any) -> Any:
    """What a judge replies, as its parser reads it; the draws are those of the request."""
    assert what.parse is not None
    reply = probe_reply(
        judge,
        what.prompt,
        Inputs.model_validate(what.inputs),
        shown,
        Draws(repr((judge.name, what))),
        draw=what.repeat,
        **how,
    )
    return what.parse(reply.text)


def perturbed(number: int, dimension: str) -> tuple[Sample, list[JudgedImage], str, str] | None:
    """A sample on a picture, what is shown of it, the gold answer, and one with an error of the dimension."""
    picture = pictures()[number % len(pictures())]
    gold = gold_answer(picture)
    made = plant_error(dimension, gold, picture, Draws(f"{number}"))
    if made is None:
        return None
    sample = Sample(id=picture.id, images=(ref(picture.id),), prompt="Describe the picture.")
    return sample, [JudgedImage(picture, WHOLE, ())], gold, made.text


def undetected(judge: JudgeProfile, evaluator: Evaluator, dimension: str, **how: Any) -> tuple[int, int]:
    """How many errors of a dimension leave every relevant axis as it was (in a pair: the gold answer unchosen), of how many."""
    missed = count = 0
    for number in range(len(pictures())):
        item = perturbed(number, dimension)
        if item is None:
            continue
        sample, shown, gold, wrong = item
        axes = TEXTS[dimension].axes
        if paradigm_of(evaluator) == "pairwise":
            read = said(judge, compare_answers(sample, evaluator, wrong, gold), shown, **how)
            missed += read.values[OVERALL] != "second"
        elif evaluator == "reference":
            missed += (
                said(judge, score_answer(sample, evaluator, wrong, reference=gold), shown, **how).values[OVERALL] == 10
            )
        else:
            before, after = (said(judge, score_answer(sample, evaluator, one), shown, **how) for one in (gold, wrong))
            missed += all(before.values[axis] == after.values[axis] for axis in axes if axis in before.values)
        count += 1
    return missed, count


def near(found: tuple[int, int], rate: float) -> bool:
    """Whether a share is the rate, to within four standard errors."""
    missed, count = found
    return abs(missed / count - rate) <= 4 * (max(rate * (1 - rate), 1e-9) / count) ** 0.5 + 1e-9


@pytest.mark.parametrize("evaluator", PUBLISHED)
def test_a_sharp_judge_sees_every_error_of_every_dimension(evaluator: Evaluator) -> None:
    """Under each of the nine evaluators nothing goes undetected, in any of the eighteen dimensions."""
    judge = JudgeProfile(name="sim/judge-sharp")
    for dimension in TEXTS:
        if dimension == NEUTRAL:
            continue
        for number in range(12):
            item = perturbed(number * 31, dimension)
            if item is None:
                continue
            sample, shown, gold, wrong = item
            assert {one.dimension for one in faults_in_text(wrong, shown[0].content)} == {dimension}
            if paradigm_of(evaluator) == "pairwise":
                choices = said(judge, compare_answers(sample, evaluator, wrong, gold), shown).values
                assert all(choices[axis] == "second" for axis in TEXTS[dimension].axes if axis in choices)
            else:
                given = {"reference": gold} if evaluator == "reference" else {}
                scores = said(judge, score_answer(sample, evaluator, wrong, **given), shown).values
                best = said(judge, score_answer(sample, evaluator, gold, **given), shown).values
                assert all(scores[axis] < best[axis] for axis in TEXTS[dimension].axes if axis in scores)
                assert all(scores[axis] == best[axis] for axis in set(scores) - set(TEXTS[dimension].axes))


@pytest.mark.parametrize(
    ("evaluator", "rate"),
    [("single-vanilla", 0.4), ("single-axes", 0.25), ("pairwise-axes-rules", 0.1), ("reference", 0.3)],
)
def test_the_share_of_misses_is_what_was_planted(evaluator: Evaluator, rate: float) -> None:
    """The most specific rate counts, and equal calls agree."""
    judge = JudgeProfile(
        name="sim/judge-x", misses={"VG": 0.4, "VG/single-axes": 0.25, "VG/pairwise": 0.1, "VG/reference": 0.3}
    )
    assert near(found := undetected(judge, evaluator, "attribute_distortion"), rate)
    assert undetected(judge, evaluator, "attribute_distortion") == found


def test_the_most_specific_rate_counts() -> None:
    """A dimension comes before a group and a group before a way of asking; what names both comes before either alone."""
    misses = {
        "reference": 0.1,
        "VR": 0.2,
        "VR/reference": 0.3,
        "numerical_errors": 0.4,
        "numerical_errors/pairwise": 0.5,
    }
    judge = JudgeProfile(name="sim/judge-x", misses=misses, detects_missing=0.95, misses_more={"low": 0.15, "high": -1})

    def rate(dimension: str, group: str, evaluator: str, **how: Any) -> float:
        return round(miss_rate(judge, dimension, group, evaluator, **how), 6)

    assert rate("numerical_errors", "VR", "pairwise-axes") == 0.5
    assert rate("numerical_errors", "VR", "reference") == 0.4
    assert rate("misread_key_elements", "VR", "reference") == 0.3
    assert rate("misread_key_elements", "VR", "single-axes") == 0.2
    assert rate("tone_mismatch", "LG", "reference") == 0.1
    assert rate("tone_mismatch", "LG", "single-axes") == 0.05
    assert rate("tone_mismatch", "LG", "single-axes", effort="low") == 0.2
    assert rate("tone_mismatch", "LG", "single-axes", effort="high") == 0
    other = JudgeProfile(name="sim/judge-y", misses={"LG/reference": 0.2, "LG/new-reference": 0.5})
    assert [miss_rate(other, "tone_mismatch", "LG", "reference", new=new) for new in (False, True)] == [0.2, 0.5]


def test_an_error_can_be_named_and_ignored_or_rewarded() -> None:
    """Of what is noticed a share changes no score and a share raises it; the justification names all the same."""
    judge = JudgeProfile(name="sim/judge-x", misses={"VG": 0.2}, names_only=0.3, prefers_perturbed=0.25)
    fates = {"lower": 0, "same": 0, "higher": 0}
    named = count = 0
    for number in range(len(pictures())):
        item = perturbed(number, "attribute_distortion")
        if item is None:
            continue
        sample, shown, gold, wrong = item
        before, after = (said(judge, score_answer(sample, "single-axes", one), shown) for one in (gold, wrong))
        change = after.values[OVERALL] - before.values[OVERALL]
        fates["same" if not change else "higher" if change > 0 else "lower"] += 1
        notice = said(judge, read_justification(after.justification, error="The colour was changed."), shown)
        named += notice.named
        assert not notice.named or notice.words in " ".join(after.justification.split())
        assert not said(judge, read_justification(before.justification), shown).named
        count += 1
    assert near((fates["same"], count), 0.2 + 0.8 * 0.3)
    assert near((fates["higher"], count), 0.8 * 0.25)
    assert near((named, count), 0.8)


def test_harmless_changes_and_retests_are_scored_otherwise_as_planted() -> None:
    """A rewording and a second judgement lose a point at their rates, in pairs the preference is the same in both orders."""
    judge = JudgeProfile(name="sim/judge-x", nitpicks=0.4, wavers=0.2, imagines=0.3)
    lower = waver = preferred = imagined = 0
    for number in range(len(pictures())):
        item = perturbed(number, NEUTRAL)
        assert item is not None
        sample, shown, gold, other = item
        first = said(judge, score_answer(sample, "single-axes", gold), shown)
        again = said(judge, score_answer(sample, "single-axes", gold, repeat=1), shown)
        lower += said(judge, score_answer(sample, "single-axes", other), shown).values != first.values
        waver += again.values != first.values
        orders = [
            said(judge, compare_answers(sample, "pairwise-axes", *pair), shown).values[OVERALL]
            for pair in ((gold, other), (other, gold))
        ]
        assert sorted(orders) in (["tie", "tie"], ["first", "second"])
        preferred += orders[0] != "tie"
        imagined += said(judge, read_justification(first.justification), shown).named
    assert near((lower, len(pictures())), 0.4)
    assert near((waver, len(pictures())), 0.2)
    assert near((preferred, len(pictures())), 0.4)
    assert near((imagined, len(pictures())), 0.3)


def test_a_place_is_favoured_in_whole_replies() -> None:
    """With position bias a tie becomes the first answer, and the second one a tie, on all axes at once."""
    judge = JudgeProfile(name="sim/judge-x", favours_first=0.5)
    moved = 0
    for number in range(len(pictures())):
        item = perturbed(number, NEUTRAL)
        assert item is not None
        sample, shown, gold, other = item
        choices = set(said(judge, compare_answers(sample, "pairwise-axes", gold, other), shown).values.values())
        assert choices in ({"tie"}, {"first"})
        moved += choices == {"first"}
    assert near((moved, len(pictures())), 0.5)


def test_a_preference_of_taste_is_not_moved_by_places() -> None:
    """With both planted, two equal answers are called equal at the product of what is left of either rate."""
    judge = JudgeProfile(name="sim/judge-x", favours_first=0.3, nitpicks=0.5)
    equal = 0
    for number in range(len(pictures())):
        item = perturbed(number, NEUTRAL)
        assert item is not None
        sample, shown, gold, other = item
        for pair in ((gold, other), (other, gold)):
            equal += said(judge, compare_answers(sample, "pairwise-vanilla", *pair), shown).values[OVERALL] == "tie"
    assert near((equal, 2 * len(pictures())), 0.5 * 0.7)


def edited(*edits: PlantedEdit) -> JudgedImage:
    """An image of the first picture with edits."""
    return JudgedImage(pictures()[0], WHOLE, edits)


@pytest.mark.parametrize("evaluator", PUBLISHED)
def test_images_are_judged_by_what_was_edited_in_them(evaluator: Evaluator) -> None:
    """In each of the 21 dimensions the edited image is worse on the relevant axes, and a neutral edit is as good."""
    judge = JudgeProfile(name="sim/judge-sharp")
    sample = Sample(id="s", images=(ref("gold"),), prompt="A street with a red cat.")
    for dimension in IMAGES:
        gold, other = edited(), edited(PlantedEdit(dimension, LARGE, "the cat is gone"))
        if paradigm_of(evaluator) == "pairwise":
            what = compare_answers(sample, evaluator, ref("other"), ref("gold"))
            choices = said(judge, what, [other, gold]).values
            expected = "tie" if dimension == NEUTRAL else "second"
            assert all(choices[axis] == expected for axis in IMAGES[dimension].axes if axis in choices)
            continue
        given = {"reference": ref("gold")} if evaluator == "reference" else {}
        before = [gold] if given else []
        what = score_answer(sample, evaluator, ref("other"), **given)
        scores, best = (said(judge, what, [*before, one]).values for one in (other, gold))
        worse = {axis for axis in scores if scores[axis] < best[axis]}
        assert worse == (set() if dimension == NEUTRAL else set(IMAGES[dimension].axes) & set(scores))


def test_the_near_sighted_find_small_things_with_a_tool_alone() -> None:
    """What is too small is missed; offered a tool the judge enlarges the place, and then sees it."""
    judge = JudgeProfile(name="sim/judge-near", sight=0.02)
    sample = Sample(id="s", images=(ref("gold"),), prompt="A shop sign.")
    what = score_answer(sample, "single-vanilla", ref("other"))
    assert what.tools
    small, large = (edited(PlantedEdit("typographic_corruption", box, "COFEE")) for box in (SMALL, LARGE))
    assert said(judge, what, [small]).values[OVERALL] == 9
    assert said(judge, what, [large]).values[OVERALL] < 9
    asked = probe_reply(judge, what.prompt, Inputs.model_validate(what.inputs), [small], Draws("k"), tools=ZOOM)
    assert asked.tool_calls
    enlarged = small._replace(part=(0.39, 0.39, 0.46, 0.46))
    assert said(judge, what, [small, enlarged]).values[OVERALL] < 9


def test_the_near_sighted_find_small_things_in_texts_with_a_tool() -> None:
    """Every statement on what is too small is looked at, those that are wrong first, at most six at once."""
    judge = JudgeProfile(name="sim/judge-near", sight=0.2)
    seen = found = 0
    for number in range(0, len(pictures()), 5):
        item = perturbed(number, "numerical_errors")
        if item is None:
            continue
        sample, shown, _, wrong = item
        what = score_answer(sample, "single-axes", wrong)
        asked = probe_reply(judge, what.prompt, Inputs.model_validate(what.inputs), shown, Draws("k"), tools=ZOOM)
        flaw = faults_in_text(wrong, shown[0].content)[0]
        box = shown[0].content.by_key[flaw.key].box if flaw.key else None
        if box is None or not asked.tool_calls:
            continue
        assert len(asked.tool_calls) <= MOST_LOOKS
        enlarged = [shown[0]._replace(part=(box.x0, box.y0, box.x1, box.y1))]
        seen += said(judge, what, shown).values[OVERALL] < 9
        found += said(judge, what, [*shown, *enlarged]).values[OVERALL] < 9
    assert found > 10
    assert seen == 0


def test_a_new_reference_says_the_same_in_other_words() -> None:
    """It is at fault in nothing, is not the gold answer, and a judge that goes by it misses at a rate of its own."""
    sample, shown, gold, _ = perturbed(3, "attribute_distortion") or pytest.fail("nothing was planted")
    reply = probe_reply(
        JudgeProfile(name="sim/judge"),
        "new_reference",
        Inputs.model_validate(write_reference(sample).inputs),
        shown,
        Draws("k"),
    )
    assert reply.text != gold
    assert not faults_in_text(reply.text, shown[0].content)
    judge = JudgeProfile(name="sim/judge-x", misses={"new-reference": 1.0, "reference": 0.0})
    _, shown, gold, wrong = perturbed(3, "attribute_distortion") or pytest.fail("nothing was planted")
    points = [
        said(judge, score_answer(sample, "reference", wrong, reference=one), shown).values[OVERALL]
        for one in (gold, reply.text)
    ]
    assert points[0] < 10 == points[1]


def test_a_careless_reader_says_the_contrary() -> None:
    """At its rate it finds an error where none is named, with words that do stand there, and none where one is."""
    reader = JudgeProfile(name="sim/reader-x", misreads=0.3)
    wrong = 0
    for number in range(400):
        what = read_justification(f"All of it was gone through, for the {number}th time.\nA fault: the jetty is grey.")
        wrong += not said(reader, what, []).named
        clean = read_justification(f"All of it was gone through, for the {number}th time.")
        wrong += said(reader, clean, []).named
    assert near((wrong, 800), 0.3)


def test_where_an_error_is_counts() -> None:
    """An error that is named of A is none that is named of B."""
    text = "A fault of A: the jetty is grey."
    judge = JudgeProfile(name="sim/judge")
    assert said(judge, read_justification(text, error="The jetty became grey.", where="response A"), []).named
    assert not said(judge, read_justification(text, error="The jetty became grey.", where="response B"), []).named
    imagined = IMAGINED.format("")
    assert said(judge, read_justification(imagined), []).named
    assert not said(judge, read_justification(imagined, error="The jetty became grey."), []).named
