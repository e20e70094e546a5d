"""Simulated models perturb answers in every dimension, as the real prompts ask, and check what others perturbed."""

import hashlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from dokimasia.agents.asking import Ask
from dokimasia.agents.perturbation import check_change, check_gold, perturb_answer, write_gold
from dokimasia.domain.blindspots import NEUTRAL
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.blindspots.perturbed import reason_kind
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.simulation.gold_answers import faults_in_text, gold_answer
from dokimasia.simulation.picture import draw_scene
from dokimasia.simulation.picture_content import PictureContent, content_of_scene
from dokimasia.simulation.profiles import JudgeProfile, PanelProfile, Profile
from dokimasia.simulation.respond import respond
from dokimasia.simulation.scene import DOMAINS, Scene
from dokimasia.simulation.scenes import make_scene

SCENES = [make_scene(domain, 3) for domain in DOMAINS]
DIMENSIONS = error_dimensions("image-to-text")
JUDGE = JudgeProfile(name="sim/judge")
Put = Callable[[Profile, Ask[Any], Scene], Any]


def shown(scene: Scene) -> tuple[Sample, bytes]:
    """A sample on a scene, and its picture."""
    data = draw_scene(scene)
    ref = ImageRef(
        sha256=hashlib.sha256(data).hexdigest(), media_type="image/png", width=scene.width, height=scene.height
    )
    return Sample(id=scene.id, images=(ref,), prompt="Describe the picture."), data


@pytest.fixture
def put(ask: Callable[..., Any]) -> Put:
    """Puts what a role asks to a simulated model and returns what its parser reads."""

    def call(profile: Profile, what: Ask[Any], scene: Scene) -> Any:
        sample, data = shown(scene)
        request = ask(profile.name, what.prompt, dict(what.inputs), images=sample.images)
        assert what.parse is not None
        return what.parse(respond(request, {sample.images[0].sha256: data}, models={profile.name: profile}).text)

    return call


def seen(scene: Scene) -> PictureContent:
    """What a scene shows."""
    return content_of_scene(scene)


def test_every_dimension_is_perturbed_as_its_prompt_asks(put: Put) -> None:
    """What comes back passes the parser, and is at fault in the dimension that was asked for and in no other."""
    made: Counter[str] = Counter()
    for scene in SCENES:
        sample, _ = shown(scene)
        gold = gold_answer(seen(scene))
        for name, dimension in DIMENSIONS.items():
            found = put(JUDGE, perturb_answer(sample, gold, dimension), scene)
            if found.none:
                continue
            made[name] += 1
            assert found.description
            assert {one.dimension for one in faults_in_text(found.text, seen(scene))} == ({name} - {NEUTRAL})
    assert set(made) == set(DIMENSIONS)


@pytest.mark.parametrize("name", list(DIMENSIONS))
def test_what_cannot_be_planted_is_said_so(name: str, put: Put) -> None:
    """A perturber that finds nothing to make worse says so, and is not sent back."""
    sample, _ = shown(SCENES[0])
    found = put(JUDGE, perturb_answer(sample, "A bus.", DIMENSIONS[name]), SCENES[0])
    assert found.none
    assert not found.text


@pytest.mark.parametrize("name", ["numerical_errors", "tone_mismatch", NEUTRAL])
@pytest.mark.parametrize("fault", ["perturbs_nothing", "perturbs_all"])
def test_an_answer_that_is_not_changed_or_quite_another_is_sent_back(name: str, fault: str, put: Put) -> None:
    """A perturber that changes nothing, or everything, is told so."""
    careless = JudgeProfile(name="sim/x", **{fault: 1.0})
    sample, _ = shown(SCENES[0])
    with pytest.raises(UnparsableReply) as refused:
        put(careless, perturb_answer(sample, gold_answer(seen(SCENES[0])), DIMENSIONS[name]), SCENES[0])
    assert reason_kind(refused.value.reason) == fault.removeprefix("perturbs_")


def test_a_checker_tells_the_dimension_and_what_is_worse_beside(put: Put) -> None:
    """It is not told what a change was meant as; a second error that was made along the way is named apart."""
    spilling = JudgeProfile(name="sim/x", perturbs_more=1.0)
    scene = SCENES[0]
    sample, _ = shown(scene)
    gold = gold_answer(seen(scene))
    for name, dimension in DIMENSIONS.items():
        for profile, beside in ((JUDGE, 0), (spilling, 1)):
            found = put(profile, perturb_answer(sample, gold, dimension), scene)
            what = check_change(sample, gold, found.text, list(DIMENSIONS.values()))
            kind, also, worse, why = put(JUDGE, what, scene)
            assert name in ({kind, *also} if beside and name != NEUTRAL else {kind, NEUTRAL} if beside else {kind})
            assert len(also) == (beside if name != NEUTRAL else 0)
            assert worse == (name != NEUTRAL or bool(beside))
            assert why


def test_a_gold_answer_with_false_facts_is_found_wrong(put: Put) -> None:
    """A writer without a fault writes what a checker finds right; one that is always wrong is caught with its words."""
    scene = SCENES[0]
    sample, _ = shown(scene)
    right = put(PanelProfile(name="sim/x"), write_gold(sample), scene)
    assert right == gold_answer(seen(scene))
    assert put(JUDGE, check_gold(sample, right), scene) == ("", "")
    wrong = put(PanelProfile(name="sim/x", false_facts=1.0), write_gold(sample), scene)
    words, why = put(JUDGE, check_gold(sample, wrong), scene)
    assert words.casefold() in wrong.casefold()
    assert why
