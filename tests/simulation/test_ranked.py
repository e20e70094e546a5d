"""The planted world with rankings, and the judges that lean: by final answers, and towards what they are shown first."""

from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from dokimasia.cli.sim import command
from dokimasia.parsing.judging.replies import parse_aspect_scores, parse_batch_ranking, parse_compared_criteria
from dokimasia.parsing.verdicts import parse_rating
from dokimasia.prompts import lines_text
from dokimasia.simulation.judging.scoring import RIGHT, statement_score
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.ranked_world import SKILLS, planted_responses, write_ranked
from dokimasia.simulation.respond import respond
from dokimasia.simulation.world import make_world

FAIR = JudgeProfile(name="sim/judge-fair")
LEANING = JudgeProfile(name="sim/judge-leaning", outcome_bias=1.0)
FIRST = JudgeProfile(name="sim/judge-first-place", batch_bias=1.0)
KNOWN = {one.name: one for one in (FAIR, LEANING, FIRST)}


@pytest.fixture
def question(small_scene):
    """The first question of a small scene."""
    return small_scene.questions[0]


@pytest.fixture
def tell(ask, small_png, small_ref):
    """Ask one of the judges above about the small picture and return the text of its reply."""

    def told(model, prompt, inputs, images=None):
        call = ask(model, prompt, inputs, images=(small_ref,) if images is None else images)
        return respond(call, {small_ref.sha256: small_png}, models=KNOWN).text

    return told


def answer_of(question, *, steps: bool, final: bool) -> str:
    """An answer whose steps are all right or all wrong, and whose final answer is right or wrong."""
    lines = [step.statement if steps else step.wrong[0] for step in question.steps]
    return "\n".join([*lines, "", f"Final answer: {question.answer if final else question.wrong_answers[0]}"])


def test_a_fair_judge_rates_steps_and_a_leaning_one_answers(tell, question) -> None:
    """A right answer with wrong reasoning gets little from the fair judge and much from the other; and the other way round."""
    lucky, unlucky = (answer_of(question, steps=steps, final=not steps) for steps in (False, True))
    rated = {
        (judge, text): parse_rating(tell(judge, "pointwise", {"question": question.text, "response": text}), 1, 10)
        for judge in (FAIR.name, LEANING.name)
        for text in (lucky, unlucky)
    }
    assert (rated[FAIR.name, lucky], rated[FAIR.name, unlucky]) == (1, 10)
    assert (rated[LEANING.name, lucky], rated[LEANING.name, unlucky]) == (9, 3)


def test_batches_go_by_the_same_worth_and_may_lean_to_the_first(tell, question) -> None:
    """Equal responses tie, better ones come before; a judge that leans to the first puts it before all others."""
    good, bad = (answer_of(question, steps=steps, final=steps) for steps in (True, False))
    texts = lines_text({"response": number, "text": text} for number, text in enumerate((bad, good, bad), 1))
    inputs = {"question": question.text, "responses": texts}
    assert parse_batch_ranking(tell(FAIR.name, "batch_ranking", inputs), 3) == (2, 1, 2)
    assert parse_batch_ranking(tell(FIRST.name, "batch_ranking", inputs), 3) == (1, 2, 3)


def test_criteria_come_from_what_tells_responses_apart(tell, question) -> None:
    """What one auxiliary response states and another does not becomes a criterion with the step's weight; scores go by it."""
    good, bad = (answer_of(question, steps=steps, final=steps) for steps in (True, False))
    texts = lines_text({"response": number, "text": text} for number, text in enumerate((good, bad), 1))
    reply = tell(FAIR.name, "scan_criteria", {"question": question.text, "responses": texts})
    criteria = parse_compared_criteria(reply)
    assert [weight for _, weight in criteria] == [step.weight for step in question.steps][:6]
    assert all(step.statement in text for step, (text, _) in zip(question.steps, criteria, strict=False))
    listed = lines_text(
        {"n": number, "criterion": text, "weight": weight} for number, (text, weight) in enumerate(criteria, 1)
    )
    scored = tell(FAIR.name, "scan_scores", {"question": question.text, "criteria": listed, "response": good})
    assert scored.splitlines()[0] == "1 | score: [5]"


def test_aspects_go_by_the_chain(tell, question) -> None:
    """Without the picture a response is held against the chain: its steps, or with outcome bias its answer alone."""
    chain = "\n".join(f"{at}. {step.statement}" for at, step in enumerate(question.steps, 1))
    inputs = {"question": question.text, "chain": f"{chain}\n\nFinal answer: {question.answer}"}
    lucky = answer_of(question, steps=False, final=True)
    for judge, score in ((FAIR.name, 1), (LEANING.name, 5)):
        read = parse_aspect_scores(tell(judge, "aspect_scores", {**inputs, "response": lucky}, images=()))
        assert {one.score for one in read} == {score}


def test_what_is_planted_is_what_responses_say() -> None:
    """The weight that is planted is that of the steps which the text states, and the final answer stands at its end."""
    for _, question in make_world(12, 4):
        for one in planted_responses(question, SKILLS, 4):
            said = [step.weight for step in question.steps if statement_score(step.statement, one.text) == RIGHT]
            assert sum(said) == one.merit
            assert one.text.endswith(f"Final answer: {question.answer}") == one.right


def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    """Responses, auxiliary responses and rankings are equal to the byte, and have a line each for all that is planted."""
    first, second = (write_ranked(tmp_path / f"{name}.jsonl", 6, 2) for name in ("a", "b"))
    assert [path.read_bytes() for path in first.values()] == [path.read_bytes() for path in second.values()]
    lines = {name: [orjson.loads(line) for line in path.read_bytes().splitlines()] for name, path in first.items()}
    assert {name: len(several) for name, several in lines.items()} == {"responses": 30, "auxiliary": 18, "rankings": 18}
    assert {"ranking", "scores"} <= {field for line in lines["rankings"] for field in line}


def test_the_command_writes_them_beside_the_data(tmp_path: Path) -> None:
    """`sim make --rankings` names the files that it wrote; scenes without questions have no rankings."""
    made = CliRunner().invoke(command, ["make", str(tmp_path / "w.jsonl"), "--samples", "3", "--rankings"])
    assert made.exit_code == 0
    assert {path.name for path in tmp_path.glob("w.*")} == {
        "w.jsonl",
        "w.responses.jsonl",
        "w.auxiliary.jsonl",
        "w.rankings.jsonl",
    }
    refused = CliRunner().invoke(command, ["make", str(tmp_path / "x.jsonl"), "--described", "--rankings"])
    assert refused.exit_code == 2
