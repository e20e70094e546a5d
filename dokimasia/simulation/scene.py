"""Types of the planted world: scenes with facts, and questions with known steps of reasoning."""

from collections.abc import Iterable
from typing import Literal, get_args

import orjson
from pydantic import BaseModel, Field, JsonValue

from dokimasia.domain.criterion import Box
from dokimasia.domain.identity import Value

Domain = Literal["natural", "document", "interface", "data", "stem", "logic", "creative"]
"""The seven domains: natural scenes; documents and OCR; digital UI and UX; structured data; STEM and expert; logic and
puzzles; creative and cultural.
"""

DOMAINS: tuple[Domain, ...] = get_args(Domain)

QuestionKind = Literal["recognise", "count", "relate", "read", "compare", "infer"]
"""The six kinds of question."""

QUESTION_KINDS: tuple[QuestionKind, ...] = get_args(QuestionKind)


class Fact(Value):
    """A fact of a picture: `subject` has `attribute` with `value`, visible inside `box`."""

    id: str
    subject: str
    attribute: str
    value: str
    box: Box


class SceneStep(Value):
    """A step of a question's reference reasoning, which becomes an atomic criterion.

    `question` is the open sub-question (it never contains `truth`), `statement` the right sentence, which contains `truth`;
    each of `wrong` is a wrong sentence of the same form. `capability` is the planted leaf path `<Category><Parent><Leaf>`.
    `box` is the region of the evidence, None for the whole image. The weights of a question's steps sum to 10.
    """

    question: str
    truth: str
    statement: str
    wrong: tuple[str, ...] = Field(min_length=2)
    weight: int = Field(ge=1, le=10)
    capability: str
    box: Box | None = None


class SceneQuestion(Value):
    """A question about a scene, its answer, and the 3 to 5 steps of the reference reasoning.

    `wrong_answers` are wrong answers of the same form; with `choices`, the answer is the text of one of them.
    """

    id: str
    kind: QuestionKind
    text: str
    answer: str
    wrong_answers: tuple[str, ...] = Field(min_length=2)
    choices: tuple[str, ...] = ()
    steps: tuple[SceneStep, ...] = Field(min_length=3, max_length=5)


class Scene(Value):
    """The full truth of a picture: its facts and questions. `width` and `height` are in pixels.

    `layout` is the kind of picture within the domain; `look` seeds details that are not facts (a tree's place, a shade).
    `disputed` are the ids of facts with several readings, on which honest describers differ.
    """

    id: str
    domain: Domain
    layout: str = ""
    look: int = 0
    title: str
    width: int
    height: int
    facts: tuple[Fact, ...] = Field(min_length=12, max_length=30)
    questions: tuple[SceneQuestion, ...] = Field(min_length=1)
    disputed: tuple[str, ...] = ()


class WrittenCriterion(BaseModel):
    """A criterion as a simulated judge writes it; `final` is None where the prompt does not ask for it."""

    question: str
    ground_truth: str
    weight: int
    anchor: JsonValue = "whole image"
    final: bool | None = None


def criteria_text(criteria: Iterable[WrittenCriterion]) -> str:
    """Return criteria as a JSON array."""
    return orjson.dumps([criterion.model_dump(exclude_none=True) for criterion in criteria]).decode()


def find_question(scene: Scene, text: str) -> SceneQuestion | None:
    """Return the scene's question with exactly that text; None without one."""
    return next((question for question in scene.questions if question.text == text), None)
