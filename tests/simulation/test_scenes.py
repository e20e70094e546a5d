"""The planted scenes: what every scene and question must hold, whatever the seed."""

import re
from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dokimasia.simulation.capabilities import CAPABILITIES, DESCRIPTIONS
from dokimasia.simulation.scene import DOMAINS, QUESTION_KINDS, Domain, Scene, SceneQuestion, find_question
from dokimasia.simulation.scenes import LAYOUTS, make_scene

NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]

PINNED = ("street", "bus")

any_scene = st.builds(make_scene, st.sampled_from(DOMAINS), st.integers(-(10**9), 10**12))


def words(text: str) -> list[str]:
    """Return the text's words in lower case, number words as digits."""
    return [str(NUMBERS.index(word)) if word in NUMBERS else word for word in re.findall(r"[a-z0-9]+", text.lower())]


def holds(text: str, phrase: str) -> bool:
    """Return whether the phrase occurs in the text as a sequence of whole words."""
    inside, sought = words(text), words(phrase)
    return any(inside[at : at + len(sought)] == sought for at in range(len(inside) - len(sought) + 1))


def statements(question: SceneQuestion) -> list[str]:
    """Return all right and wrong statements of a question."""
    return [text for step in question.steps for text in (step.statement, *step.wrong)]


@given(any_scene)
@settings(max_examples=150, deadline=None)
def test_every_scene_has_twelve_to_thirty_facts_and_one_question_of_each_kind(scene: Scene) -> None:
    """A scene has 12 to 30 facts with ids of their own, and one question of each kind with a text of its own."""
    assert 12 <= len(scene.facts) <= 30
    assert len({fact.id for fact in scene.facts}) == len(scene.facts)
    assert tuple(question.kind for question in scene.questions) == QUESTION_KINDS
    assert len({question.text for question in scene.questions}) == len(QUESTION_KINDS)
    assert all(question.id == f"{scene.id}-{question.kind}" for question in scene.questions)
    assert all(fact.value for fact in scene.facts)


@given(any_scene)
@settings(max_examples=150, deadline=None)
def test_no_step_or_question_gives_its_answer_away(scene: Scene) -> None:
    """No sub-question holds its truth and no question its answer, also where numbers are written as words."""
    for question in scene.questions:
        assert not holds(question.text, question.answer), question.text
        for step in question.steps:
            assert not holds(step.question, step.truth), (step.question, step.truth)


@given(any_scene)
@settings(max_examples=150, deadline=None)
def test_steps_are_weighted_and_say_their_truth_in_a_sentence(scene: Scene) -> None:
    """A question has 3 to 5 different steps whose weights sum to 10; a statement is a sentence that holds the truth."""
    for question in scene.questions:
        assert 3 <= len(question.steps) <= 5
        assert sum(step.weight for step in question.steps) == 10
        assert len({step.question for step in question.steps}) == len(question.steps)
        for step in question.steps:
            assert step.truth in step.statement
            assert all(text[0].isupper() and text.endswith(".") for text in (step.statement, *step.wrong))
            assert step.question.endswith("?")
            assert step.capability in DESCRIPTIONS


@given(any_scene)
@settings(max_examples=100, deadline=None)
def test_no_statement_of_a_question_is_part_of_another(scene: Scene) -> None:
    """Right and wrong statements of one question all differ and none contains another, so that each can be recognised."""
    for question in scene.questions:
        folded = [text.lower() for text in statements(question)]
        assert not [(inner, outer) for inner, outer in permutations(folded, 2) if inner in outer]


@given(any_scene)
@settings(max_examples=150, deadline=None)
def test_wrong_answers_are_false_and_choices_hold_the_answer_once(scene: Scene) -> None:
    """Wrong answers differ from the answer and each other; four choices, where there are any, hold the answer once."""
    for question in scene.questions:
        answers = [question.answer.lower(), *(wrong.lower() for wrong in question.wrong_answers)]
        assert len(set(answers)) == len(answers) >= 3
        if question.choices:
            assert len(set(question.choices)) == 4
            assert question.choices.count(question.answer) == 1


@given(any_scene)
@settings(max_examples=60, deadline=None)
def test_a_scene_survives_json_and_is_made_again_equal(scene: Scene) -> None:
    """A scene is equal after a trip through JSON, and equal when its domain and seed are asked again."""
    assert Scene.model_validate_json(scene.model_dump_json()) == scene
    assert make_scene(scene.domain, int(scene.id.removeprefix(f"{scene.domain}-"))) == scene


def test_a_scene_is_the_same_on_every_machine() -> None:
    """The draws are pinned: this scene has been the same since the world was first made."""
    scene = make_scene("natural", 0)
    again = make_scene("natural", 0)
    assert scene == again
    assert scene != make_scene("natural", 1)
    assert (scene.layout, scene.facts[0].value) == PINNED


@pytest.mark.parametrize("domain", DOMAINS)
def test_scenes_of_a_domain_use_all_layouts_and_are_distinct(domain: Domain) -> None:
    """Over 150 seeds all layouts of a domain occur, and the facts of nearly all scenes differ."""
    scenes = [make_scene(domain, seed) for seed in range(150)]
    assert {scene.layout for scene in scenes} == set(LAYOUTS[domain])
    assert len(LAYOUTS[domain]) >= 3
    shown = {tuple((fact.id, fact.subject, fact.value) for fact in scene.facts) for scene in scenes}
    assert len(shown) == len(scenes)


def test_about_a_third_of_the_questions_have_choices_at_every_position() -> None:
    """Between 28 and 40 percent of the questions have choices, and the right one stands at each place about as often."""
    questions = [q for domain in DOMAINS for seed in range(60) for q in make_scene(domain, seed).questions]
    chosen = [q for q in questions if q.choices]
    assert 0.28 < len(chosen) / len(questions) < 0.40
    places = Counter(q.choices.index(q.answer) for q in chosen)
    assert min(places[n] for n in range(4)) > 0.18 * len(chosen)


def test_every_capability_is_asked_for_and_has_a_leaf_path() -> None:
    """24 to 32 leaves in all six categories, each used by some question, each path of the form <A><B><C>."""
    used = {
        step.capability
        for domain in DOMAINS
        for seed in range(60)
        for question in make_scene(domain, seed).questions
        for step in question.steps
    }
    assert used == set(CAPABILITIES)
    assert 24 <= len(CAPABILITIES) <= 32
    assert all(re.fullmatch(r"<[^<>]+><[^<>]+><[^<>]+>", leaf) for leaf in CAPABILITIES)
    categories = {leaf.split(">")[0][1:] for leaf in CAPABILITIES}
    assert categories == {"Perception", "Reasoning", "Knowledge", "Understanding", "Trustworthiness", "Generation"}


def test_a_question_is_found_by_its_exact_text_only() -> None:
    """A question is found by its text, and not by a text that differs in a single character."""
    scene = make_scene("data", 3)
    for question in scene.questions:
        assert find_question(scene, question.text) == question
        assert find_question(scene, question.text + " ") is None
