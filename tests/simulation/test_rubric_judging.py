"""Simulated judges of rubrics: what they write, check and mend, and assessments at planted rates."""

import hashlib

import orjson
import pytest

from dokimasia.domain.rubric import ERROR_KINDS
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.assessment import parse_rubric_assessment
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.rubrics import meets_rubric, read_list
from dokimasia.simulation.panel import describe_picture
from dokimasia.simulation.picture import draw_scene
from dokimasia.simulation.picture_content import content_of_scene, read_statements
from dokimasia.simulation.profiles import JudgeProfile, PanelProfile, as_judge, profiles
from dokimasia.simulation.respond import respond
from dokimasia.simulation.scene import DOMAINS
from dokimasia.simulation.scenes import make_scene
from dokimasia.simulation.truths.reviewing import expected_audit, true_gated_score, true_results

SCENES = [make_scene(domain, 700 + seed) for domain in DOMAINS for seed in range(6)]
POOL = ("sim/strong", "sim/steady", "sim/nearsighted", "sim/weak", "sim/panel-c")


def _rows(rubrics) -> str:
    return orjson.dumps([{"n": number, "statement": text} for number, text in enumerate(rubrics, 1)]).decode()


def _caption(scene) -> str:
    return " ".join(point.sentence() for point in content_of_scene(scene).points)


@pytest.fixture
def put(ask):
    """Puts a prompt to a judge, with the scene's picture where it is shown, and returns the reply's text."""

    def make(prompt: str, inputs: dict[str, str], *, scene=None, judge=None, repeat: int = 0) -> str:
        images, blobs = (), {}
        if scene is not None:
            png = draw_scene(scene)
            sha = hashlib.sha256(png).hexdigest()
            images, blobs = (ImageRef(sha256=sha, media_type="image/png", width=640, height=480),), {sha: png}
        judge = judge or JudgeProfile(name="sim/judge")
        call = ask(judge.name, prompt, inputs, images=images, repeat=repeat)
        return respond(call, blobs, models={judge.name: judge}).text

    return make


@pytest.fixture
def sets(put):
    """Must-right and easy-wrong rubrics of every scene, as the judge writes them."""
    found = []
    for scene in SCENES:
        caption = _caption(scene)
        must = orjson.loads(put(f"must_right_{scene.domain}", {"caption": caption}, scene=scene))
        texts = [
            describe_picture(profiles()[name], content_of_scene(scene), Draws(f"{name}{scene.id}")).text
            for name in POOL
        ]
        pool = orjson.dumps([{"n": number, "text": text} for number, text in enumerate(texts, 1)]).decode()
        easy = orjson.loads(put("easy_wrong", {"caption": caption, "responses": pool}))
        found.append((scene, must, easy, texts))
    return found


def test_rubrics_are_true_of_the_caption_and_of_known_kinds(sets) -> None:
    """Three to five must-right and some easy-wrong rubrics, all passed by the caption that they quote."""
    polarities = set()
    for scene, must, easy, texts in sets:
        caption = _caption(scene)
        assert 3 <= len(must) <= 5
        for row in (*must, *easy):
            assert meets_rubric(row["statement"], caption)
            assert row["evidence"]
            assert row["evidence"] in caption
            assert row["kind"] in ERROR_KINDS
            polarities.add(row["polarity"])
        assert any(row["responses"] for row in easy)
        for row in easy:
            assert all(not meets_rubric(row["statement"], texts[number - 1]) for number in row["responses"])
    assert polarities == {"positive", "negative"}
    assert sum(len(easy) for _, _, easy, _ in sets) > 2 * len(sets)


def test_a_perfect_judge_gives_what_the_truth_gives(sets, put) -> None:
    """Assessments by a faultless judge equal the results by the sentences that stand in the text, so do gated scores."""
    for scene, must, easy, texts in sets:
        groups = [[row["statement"] for row in rows] for rows in (must, easy)]
        for text in (*texts, _caption(scene)):
            inputs = {"group_a": _rows(groups[0]), "group_b": _rows(groups[1]), "response": text}
            found = parse_rubric_assessment(put("rubric_assessment", inputs), len(groups[0]), len(groups[1]))
            assert [list(found.group_a), list(found.group_b)] == [true_results(text, group) for group in groups]
        assert true_gated_score(_caption(scene), *groups) == 1


def test_an_audit_finds_what_the_parameters_say(sets) -> None:
    """Over many descriptions of each scene the mean gated score is the one that follows from the parameters."""
    planted = [
        (scene, [row["statement"] for row in must], [row["statement"] for row in easy]) for scene, must, easy, _ in sets
    ]
    perfect = as_judge(profiles()["sim/judge"])
    for name in ("sim/panel-a", "sim/steady"):
        expected = expected_audit(profiles()[name], perfect, planted)
        scores = [
            true_gated_score(
                describe_picture(profiles()[name], content_of_scene(scene), Draws(f"{name}{scene.id}{at}")).text,
                must,
                easy,
            )
            for scene, must, easy in planted
            for at in range(40)
        ]
        assert sum(scores) / len(scores) == pytest.approx(expected.overall, abs=0.025)
        assert expected.overall <= expected.gate_pass <= expected.must_right_item


def test_planted_sensitivity_shows_by_kind_of_error(sets, put) -> None:
    """A judge that is blind to one kind of error passes exactly these; false alarms come at their rate."""
    blind = JudgeProfile(name="sim/x", sensitivity={"count": 0.0, "value": 0.0})
    alarmed = JudgeProfile(name="sim/x", false_alarm=0.3)
    alarms = total = 0
    for scene, must, _, _ in sets:
        rubrics = [row["statement"] for row in must]
        inputs = {"group_a": _rows(rubrics), "group_b": "[]", "response": "Nothing can be made out."}
        found = parse_rubric_assessment(put("rubric_assessment", inputs, judge=blind), len(rubrics), 0)
        assert list(found.group_a) == [row["kind"] in ("count", "value") for row in must]
        inputs["response"] = _caption(scene)
        found = parse_rubric_assessment(put("rubric_assessment", inputs, judge=alarmed), len(rubrics), 0)
        alarms, total = alarms + found.group_a.count(False), total + len(rubrics)
    assert alarms / total == pytest.approx(0.3, abs=0.12)


@pytest.mark.parametrize("slip", ["refuses", "unparsable", "one_short", "partially", "wrong_group", "out_of_range"])
def test_slips_of_an_assessment_are_of_no_use(sets, put, slip) -> None:
    """One result too few or too many, one in the wrong group, `partially`, chatter and refusals are read by no parser."""
    _, must, easy, _ = sets[0]
    inputs = {
        "group_a": _rows([row["statement"] for row in must]),
        "group_b": _rows([easy[0]["statement"]]),
        "response": "x",
    }
    text = put("rubric_assessment", inputs, judge=JudgeProfile(name="sim/x", slips={slip: 1.0}))
    with pytest.raises(UnparsableReply):
        parse_rubric_assessment(text, len(must), 1)


def test_a_cross_check_finds_what_is_false_or_asks_two_things(sets, put) -> None:
    """A rubric that the caption fails is not true, one of two demands is not atomic; a blind member finds neither false."""
    scene, must, _, _ = sets[0]
    caption = _caption(scene)
    points = content_of_scene(scene).points
    false = f"The response must say that t{points[0].sentence(points[0].false[0])[1:]}"
    double = f"{must[0]['statement'].rstrip('.')} and that t{points[1].sentence()[1:]}"
    rubrics = _rows([must[0]["statement"], false, double])
    lines = put("rubric_cross_check", {"caption": caption, "rubrics": rubrics}).splitlines()
    assert "passes: yes | atomic: yes" in lines[0]
    assert "passes: no | atomic: yes" in lines[1]
    assert "atomic: no" in lines[2]
    blind = PanelProfile(name="sim/x", detects_false=0.0)
    assert (
        "passes: yes"
        in put("rubric_cross_check", {"caption": caption, "rubrics": rubrics}, judge=blind).splitlines()[1]
    )
    problems = "rubric 3: asks for two things\nrubric 2: not true of the caption"
    rows = orjson.loads(put("rubric_repair", {"caption": caption, "rubrics": rubrics, "problems": problems}))
    assert {row["n"]: row.get("drop", False) for row in rows} == {3: False, 2: True}
    assert len(read_statements(rows[0]["statement"])) <= 1


def test_lists_are_read_as_json_and_as_lines() -> None:
    """Rubrics come numbered either way; a line without a number goes on above."""
    assert read_list('[{"n": 1, "statement": "a"}, {"n": 2, "statement": "b"}]') == ["a", "b"]
    assert read_list("1. a\n2. b\nmore") == ["a", "b\nmore"]
    assert read_list("[]") == []


def test_rubrics_in_other_words_are_compared_by_words() -> None:
    """A published rubric about no planted fact is decided by shared words."""
    assert meets_rubric("The response must mention a brown dog on the grass.", "A brown dog lies on the grass.")
    assert not meets_rubric("The response must mention a brown dog on the grass.", "A car.")
    assert meets_rubric("The response must not mention a brown dog on the grass.", "A car.")
