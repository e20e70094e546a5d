"""Questions to people as pages show them: images and material in order, and the fields of the reply's form."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from dokimasia.agents.form_faults import faults_in_words, place_faults
from dokimasia.agents.reply_form import ReplyForm, form_of, spoken_name
from dokimasia.domain.call import Message
from dokimasia.domain.decision import CheckItem, Kind, Standing
from dokimasia.domain.question import PendingQuestion
from dokimasia.people.checks import Waiting, samples_asked
from dokimasia.prompts.fence import fenced_pieces
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import OpenQuestion, get_question, open_questions

PLACE = "place-"
"""The prefix of the names of fields for places in the form of a page."""

_NUMBERED = ("candidate", "response", "n", "number")

ASKED = {
    "describe": "describe the image",
    "peer_review": "rank {n} captions, and keep the best or write a better one",
    "peer_review_published": "rank {n} captions and write a better one",
    "peer_vote": "vote for the best of {n} captions",
    "peer_vote_published": "vote for the best of {n} captions",
    "candidate": "answer a question",
    "candidate_plain": "answer a question",
    "checkpoints": "score a response by its criteria",
    "batch_ranking": "rank {n} responses",
    "duel_verdict": "say which of two responses is better",
    "duel_verdict_published": "say which of two responses is better",
    "describe_images": "describe the images",
    "rubric_assessment": "say which rubrics a response meets",
    "rubric_assessment_reasons": "say which rubrics a response meets",
}
"""Short descriptions of what prompts ask for; for other prompts, the last sentence of the material is used."""


_DO: dict[Kind, str] = {
    "caption": "check {n} caption{s}",
    "rubric": "check {n} rubric{s}",
    "perturbation": "label {n} perturbation{s}",
    "pair": "compare {n} pair{s} of responses",
    "response": "rate {n} response{s}",
    "criterion": "rate {n} criterion{s}",
    "question": "answer {n} question{s}",
}


class DescribedItem(NamedTuple):
    """An item in the list of a run: its standing, a description, and its sample."""

    stands: Standing
    words: str
    sample: str


class QuestionPart(NamedTuple):
    """A part of a question's material: a text, an image, or texts with headings."""

    text: str = ""
    image: str = ""
    entries: tuple[tuple[str, str], ...] = ()


class QuestionView(NamedTuple):
    """A question as its page shows it.

    Attributes:
        images: hashes of the images.
        material: what the question is about, in order.
        instructions: the instructions for a model.
        sent_back: the person's earlier reply and what was wrong with it, if it was returned.
        form: the form of the reply; None if its shape is not known.
        number: the number of entries to rank or choose from.
    """

    images: tuple[str, ...]
    material: tuple[QuestionPart, ...]
    instructions: str
    sent_back: tuple[str, ...]
    form: ReplyForm | None
    number: int


def question_view(question: PendingQuestion) -> QuestionView:
    """Return a question as its page shows it."""
    messages = question.call.messages
    instructions = "\n\n".join(message.text for message in messages if message.role == "system")
    first_message = next((message for message in messages if message.role == "user"), None)
    material = _material(first_message)
    count = max((len(part.entries) for part in material), default=0)
    later_messages = messages[messages.index(first_message) + 1 :] if first_message else ()
    return QuestionView(
        images=tuple(ref.sha256 for message in messages for ref in message.images),
        material=material,
        instructions=instructions,
        sent_back=tuple(message.text for message in later_messages),
        form=form_of(question.aid, instructions, count),
        number=count,
    )


def describe_question(question: PendingQuestion) -> str:
    """Return a short description of what a question asks for."""
    view = question_view(question)
    if question.prompt in ASKED:
        return ASKED[question.prompt].format(n=view.number or "the")
    last_text = next((part.text for part in reversed(view.material) if part.text), question.prompt)
    return re.sub(r",? in the form that you were given", "", last_text.strip().splitlines()[-1]).rstrip(".")[:120]


def describe_run(home: Home, waiting: Waiting) -> list[str]:
    """Return short descriptions of what a run asks of people, by task."""
    words = [_DO[kind].format(n=n, s="" if n == 1 else "s") for kind, n in waiting.kinds.items() if kind != "question"]
    tasks = Counter(
        ASKED.get(question.prompt, question.prompt).replace("{n} ", "") for question in _open(home, waiting)
    )
    return words + [task if n == 1 else f"{task} ({n} times)" for task, n in tasks.items()]


def _open(home: Home, waiting: Waiting) -> list[OpenQuestion]:
    if "question" in waiting.kinds:
        return open_questions(home, run=waiting.run.id)
    return []


def describe_items(home: Home, items: Sequence[Standing]) -> list[DescribedItem]:
    """Return items for the list of a run, each with a description and its sample."""
    samples_by_item = samples_asked(home, [standing.item for standing in items])
    described_items: list[DescribedItem] = []
    for standing in items:
        if standing.item.kind == "question":
            words = describe_question(get_question(home, standing.item.id))
        else:
            words = _DO[standing.item.kind].format(n="this", s="").replace("this ", "the ") + _beginning(standing.item)
        described_items.append(DescribedItem(standing, words, samples_by_item[standing.item.id]))
    return described_items


def _beginning(item: CheckItem) -> str:
    if item.kind not in {"caption", "rubric"}:
        return ""
    return f": {item.text[:80]}{'…' if len(item.text) > 80 else ''}"


class ComposedReply(NamedTuple):
    """The reply composed from the fields of a page.

    Attributes:
        text: the reply.
        places: the values that were filled in, by place.
        open: what must be done before the reply can be used, by place.
        faults: all faults in a sentence; empty if the reply can be used.
    """

    text: str
    places: Mapping[str, Sequence[str]]
    open: Mapping[str, str]
    faults: str


def compose_reply(home: Home, item: str, fields: Mapping[str, Sequence[str]]) -> ComposedReply | None:
    """Return the reply composed from the fields of a page; None if they contain no place of the question's form."""
    places = {name.removeprefix(PLACE): values for name, values in fields.items() if name.startswith(PLACE)}
    question = get_question(home, item) if places else None
    form = question_view(question).form if question else None
    if question is None or form is None:
        return None
    faults = faults_in_words(form, question.aid, places)
    open_places = place_faults(form, question.aid, places) if faults else {}
    return ComposedReply(form.compose(places), places, open_places, faults)


def _material(message: Message | None) -> tuple[QuestionPart, ...]:
    parts: list[QuestionPart] = []
    for text, fenced, _ in fenced_pieces(message.text) if message else ():
        rows = _rows(text) if fenced else ()
        if rows:
            parts.append(QuestionPart(entries=rows))
        elif text.strip():
            parts.append(
                QuestionPart(text=text.strip(), entries=(("", text.strip()),) if fenced else ())._replace(
                    text="" if fenced else text.strip()
                )
            )
    return tuple(parts)


def _rows(text: str) -> tuple[tuple[str, str], ...]:
    """Return a JSON list of objects as texts with headings; empty for any other text."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return ()
    if not isinstance(value, list) or not all(isinstance(row, dict) and row for row in value):
        return ()
    return tuple(map(_row, value))


def _row(row: dict[str, JsonValue]) -> tuple[str, str]:
    (name, number), *others = row.items()
    numbered = name in _NUMBERED
    heading = f"{spoken_name(name)} {number}" if numbered and name not in {"n", "number"} else str(number)
    fields = others if numbered else list(row.items())
    texts = [value if isinstance(value, str) else orjson.dumps(value).decode() for _, value in fields]
    if len(fields) == 1:
        return heading if numbered else "", texts[0]
    lines = [f"{spoken_name(key)}: {value}" for (key, _), value in zip(fields, texts, strict=True)]
    return heading if numbered else "", "\n".join(lines)
