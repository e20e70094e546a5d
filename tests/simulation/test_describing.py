"""What pictures show and how it is told: every fact can be found again, and errors come at their planted rates."""

import hashlib

import pytest

from dokimasia.domain.identity import value_id
from dokimasia.domain.review import DESCRIBE_REQUEST
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.panel import describe_picture, in_manner, manner_of, stance_of, wrong_rate
from dokimasia.simulation.picture import draw_scene, read_scene
from dokimasia.simulation.picture_content import (
    READINGS,
    Statement,
    content_of_photograph,
    content_of_scene,
    read_statements,
)
from dokimasia.simulation.profiles import PanelProfile, as_member, profiles
from dokimasia.simulation.respond import respond
from dokimasia.simulation.scene import DOMAINS, Scene
from dokimasia.simulation.scenes import make_scene
from dokimasia.simulation.truths.reviewing import count_facts, expected_facts, read_rubric
from dokimasia.simulation.world import make_described, write_described


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    """Twenty-five scenes of each domain."""
    return [make_scene(domain, seed) for domain in DOMAINS for seed in range(25)]


def test_every_fact_can_be_found_again(scenes: list[Scene]) -> None:
    """A text of all facts reads back as exactly these, by the reader of statements and by the truth's own count."""
    for scene in scenes:
        picture = content_of_scene(scene)
        assert len(picture.points) >= 8
        text = in_manner("sim/x", [point.sentence() for point in picture.points])
        assert [one.key for one in read_statements(text)] == [point.key for point in picture.points]
        assert count_facts(text, scene) == (len(picture.points), 0, 0, 0)
        wrong = " ".join(point.sentence(point.false[0]) for point in picture.points)
        assert count_facts(wrong, scene) == (0, len(picture.points), 0, 0)
        assert count_facts("Nothing is to be seen.", scene) == (0, 0, 0, len(picture.points))


def test_every_fact_can_be_a_rubric(scenes: list[Scene]) -> None:
    """A demand or a ban on any fact reads back as what it is about."""
    for scene in scenes:
        for point in content_of_scene(scene).points:
            sentence = Statement(point.key, point.value).sentence
            for verb, forbidden in (("must", False), ("must not", True)):
                rubric = f"The response {verb} say that t{sentence[1:]}"
                assert read_rubric(rubric) == (*point.key, point.value.casefold(), forbidden)


def test_false_values_are_false_and_differ(scenes: list[Scene]) -> None:
    """Each fact has three false values, none of them its own, also in photographs."""
    for picture in [*map(content_of_scene, scenes), *(content_of_photograph(f"{number:064x}") for number in range(40))]:
        for point in picture.points:
            assert len({value.casefold() for value in (point.value, *point.false)}) == 4
            assert '"' not in point.value + "".join(point.false)


def test_a_disputed_fact_travels_in_the_picture_and_others_keep_their_bytes(tmp_path) -> None:
    """A disputed fact has three readings after the way through the PNG; a scene without one is drawn as ever."""
    scenes = list(make_described(20, 1, disputed=0.2))
    assert sum(bool(scene.disputed) for scene in scenes) == 4
    for scene in scenes:
        sighting = read_scene(draw_scene(scene))
        assert sighting is not None
        assert sighting[0] == scene
        picture = content_of_scene(sighting[0])
        assert len(picture.disputed) == len(scene.disputed)
        assert all(len(set(point.readings)) == READINGS for point in picture.disputed)
    plain = make_scene("natural", 0)
    assert b"disputed" not in draw_scene(plain)
    assert write_described(tmp_path / "a.jsonl", 5, 1) == 1
    assert write_described(tmp_path / "b.jsonl", 5, 1) == 1
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert value_id(next(make_described(1, 1))) == value_id(scenes[0]), "a shorter world is the beginning"


@pytest.mark.parametrize("name", ["sim/panel-a", "sim/panel-c", "sim/strong", "sim/judge"])
def test_facts_are_told_and_false_at_the_planted_rates(name, scenes: list[Scene]) -> None:
    """Over all scenes the counts of true and false facts are near to what follows from the parameters."""
    profile = profiles()[name]
    true = false = expected_true = expected_false = 0.0
    for scene in scenes:
        facts = count_facts(describe_picture(profile, content_of_scene(scene), Draws(f"{name} {scene.id}")).text, scene)
        true, false = true + facts.true, false + facts.false
        right, wrong = expected_facts(profile, scene)
        expected_true, expected_false = expected_true + right, expected_false + wrong
    assert true == pytest.approx(expected_true, rel=0.03)
    assert false == pytest.approx(expected_false, rel=0.15, abs=1)


def test_hard_facts_are_told_wrong_more_often_and_the_mean_is_the_planted_rate(scenes: list[Scene]) -> None:
    """A quarter of the facts is hard; over hard and easy ones the rate is what was planted."""
    member = PanelProfile(name="sim/x", false_facts=0.16)
    points = [point for scene in scenes for point in content_of_scene(scene).points]
    rates = [wrong_rate(member, point) for point in points]
    assert sum(point.hard for point in points) / len(points) == pytest.approx(0.25, abs=0.03)
    assert sum(rates) / len(rates) == pytest.approx(0.16, abs=0.01)
    assert {wrong_rate(member, point) for point in points if point.hard} == {0.4}


def test_members_of_a_panel_have_manners_and_readings_of_their_own() -> None:
    """No two models that ship begin alike, and members of a panel hold different readings, each always the same."""
    manners = [manner_of(name) for name in profiles()]
    assert len(set(manners)) == len(manners)
    for panel in (("a", "b", "c"), ("blind-a", "blind-b", "blind-c")):
        stances = [stance_of(as_member(profiles()[f"sim/panel-{letter}"], "natural")) for letter in panel]
        assert sorted(stances) == [0, 1, 2]
    scene = next(scene for scene in make_described(10, 0) if scene.disputed)
    picture = content_of_scene(scene)
    (point,) = picture.disputed
    for name in profiles():
        if "panel" in name:
            told = {
                dict(read_statements(describe_picture(profiles()[name], picture, Draws(str(at))).text))[point.key]
                for at in range(5)
            }
            assert len(told) == 1
            assert told < set(point.readings)


@pytest.mark.parametrize("prompt", ["describe", "candidate"])
def test_models_describe_when_they_are_asked_to(ask, prompt) -> None:
    """A request for a description is one by the panel's prompt and by the candidates', on scenes and on photographs."""
    scene = make_scene("natural", 5)
    png = draw_scene(scene)
    sha = hashlib.sha256(png).hexdigest()
    from dokimasia.domain.sample import ImageRef

    ref = ImageRef(sha256=sha, media_type="image/png", width=640, height=480)
    inputs = {"request": DESCRIBE_REQUEST} if prompt == "describe" else {"question": DESCRIBE_REQUEST}
    call = ask("sim/panel-a", prompt, inputs, images=(ref,))
    facts = count_facts(respond(call, {sha: png}).text, scene)
    assert facts.true > 6
    photo = hashlib.sha256(b"not a picture").hexdigest()
    other = ref.model_copy(update={"sha256": photo})
    told = read_statements(respond(ask("sim/panel-a", prompt, inputs, images=(other,)), {photo: b"not a picture"}).text)
    assert len(told) > 8
    assert {one.key for one in told} <= {point.key for point in content_of_photograph(photo).points}
