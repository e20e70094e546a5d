"""The planted world's vocabulary: scenes of facts, and questions whose every step of reasoning is known."""

from typing import Literal

from pydantic import Field

from dokimasia.domain.criterion import Box
from dokimasia.domain.identity import Value

Domain = Literal["natural", "document", "interface", "data", "stem", "logic", "creative"]
"""The seven domains: natural scenes; document and OCR; digital UI and UX; structured data; STEM and expert; logic and
puzzle; creative and cultural."""

DOMAINS: tuple[Domain, ...] = ("natural", "document", "interface", "data", "stem", "logic", "creative")

QuestionKind = Literal["recognise", "count", "relate", "read", "compare", "infer"]
"""The six kinds of question."""

QUESTION_KINDS: tuple[QuestionKind, ...] = ("recognise", "count", "relate", "read", "compare", "infer")


class Fact(Value):
    """One thing that the picture shows: `subject` has `attribute` with `value`, seen inside `box`."""

    id: str
    subject: str
    attribute: str
    value: str
    box: Box


class SceneStep(Value):
    """One step of a question's reference reasoning, which becomes one atomic criterion.

    `question` is the open sub-question (it never contains `truth`), `statement` the sentence that says it right, with
    `truth` in it; each of `wrong` is a whole sentence of the same form that says it wrong. `capability` is the planted
    leaf path `<Category><Parent><Leaf>`. `box` is where the evidence lies, None for the whole image.
    The weights of one question's steps sum to 10.
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

    `wrong_answers` are answers of the same form that are false; with `choices` the answer is one of the choices' texts.
    """

    id: str
    kind: QuestionKind
    text: str
    answer: str
    wrong_answers: tuple[str, ...] = Field(min_length=2)
    choices: tuple[str, ...] = ()
    steps: tuple[SceneStep, ...] = Field(min_length=3, max_length=5)


class Scene(Value):
    """A picture's whole truth: what it shows and what may be asked of it. `width` and `height` in pixels.

    `layout` names the sort of picture within the domain; `look` seeds what is drawn and no fact (a tree's place, a shade).
    `disputed` are the ids of facts that can be read in several ways, so that honest describers differ.
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


def find_question(scene: Scene, text: str) -> SceneQuestion | None:
    """Return the scene's question with exactly that text, or None."""
    return next((question for question in scene.questions if question.text == text), None)
