"""A question to a person as its page shows it: images and material in order, and the places of the reply's form."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import orjson

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
"""What the name of a place's field begins with in the form of a page."""

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
    "rubric_assessment": "say which rubrics a response meets",
}
"""What prompts ask for, in a few words; of another it is said by the last sentence of what is asked."""


_DO: dict[Kind, str] = {
    "caption": "check {n} caption{s}",
    "rubric": "check {n} rubric{s}",
    "perturbation": "label {n} perturbation{s}",
    "pair": "compare {n} pair{s} of responses",
    "response": "rate {n} response{s}",
    "criterion": "rate {n} criterion{s}",
    "question": "answer {n} question{s}",
}


class ItemInWords(NamedTuple):
    """An item in the list of a run: how it stands, what is asked in words, and its sample."""

    stands: Standing
    words: str
    sample: str


class QuestionPart(NamedTuple):
    """A part of what a question shows: words, an image, or texts with a heading each."""

    text: str = ""
    image: str = ""
    entries: tuple[tuple[str, str], ...] = ()


class Asks(NamedTuple):
    """A question as its page shows it.

    Attributes:
        images: what is shown, by their hashes.
        material: what is asked about, in order.
        instructions: what a model is told.
        sent_back: the person's earlier reply and what was wrong with it, where it was sent back.
        form: the reply's form in places; None where its shape is not known.
        number: how many things are ranked or chosen from.
    """

    images: tuple[str, ...]
    material: tuple[QuestionPart, ...]
    instructions: str
    sent_back: tuple[str, ...]
    form: ReplyForm | None
    number: int


def asks_of(question: PendingQuestion) -> Asks:
    """Return a question as its page shows it."""
    messages = question.call.messages
    instructions = "\n\n".join(message.text for message in messages if message.role == "system")
    first = next((message for message in messages if message.role == "user"), None)
    material = _material(first)
    count = max((len(one.entries) for one in material), default=0)
    after = messages[messages.index(first) + 1 :] if first else ()
    return Asks(
        images=tuple(ref.sha256 for message in messages for ref in message.images),
        material=material,
        instructions=instructions,
        sent_back=tuple(one.text for one in after),
        form=form_of(question.aid, instructions, count),
        number=count,
    )


def asked_in_words(question: PendingQuestion) -> str:
    """Return in a few words what a question asks for."""
    asks = asks_of(question)
    if question.prompt in ASKED:
        return ASKED[question.prompt].format(n=asks.number or "the")
    last = next((one.text for one in reversed(asks.material) if one.text), question.prompt)
    return re.sub(r",? in the form that you were given", "", last.strip().splitlines()[-1]).rstrip(".")[:120]


def asked_of_run(home: Home, waiting: Waiting) -> list[str]:
    """Return in words what a run asks of people, by what is to be done."""
    said = [_DO[kind].format(n=n, s="" if n == 1 else "s") for kind, n in waiting.kinds.items() if kind != "question"]
    asked = Counter(ASKED.get(one.prompt, one.prompt).replace("{n} ", "") for one in _open(home, waiting))
    return said + [what if n == 1 else f"{what} ({n} times)" for what, n in asked.items()]


def _open(home: Home, waiting: Waiting) -> list[OpenQuestion]:
    return open_questions(home, run=waiting.run.id) if "question" in waiting.kinds else []


def items_in_words(home: Home, items: Sequence[Standing]) -> list[ItemInWords]:
    """Return items as the list of a run shows them: what is asked in words, and of which sample."""
    of_sample = samples_asked(home, [standing.item for standing in items])
    listed: list[ItemInWords] = []
    for standing in items:
        if standing.item.kind == "question":
            words = asked_in_words(get_question(home, standing.item.id))
        else:
            words = _DO[standing.item.kind].format(n="this", s="").replace("this ", "the ") + _begins(standing.item)
        listed.append(ItemInWords(standing, words, of_sample[standing.item.id]))
    return listed


def _begins(item: CheckItem) -> str:
    if item.kind not in {"caption", "rubric"}:
        return ""
    return f": {item.text[:80]}{'…' if len(item.text) > 80 else ''}"


class Composed(NamedTuple):
    """The reply that the fields of a page make up.

    Attributes:
        text: the reply.
        places: what was filled in, by place.
        open: what is to be done in which place before the reply can be used.
        faults: all that is wrong with it, in a sentence; empty where it will do.
    """

    text: str
    places: Mapping[str, Sequence[str]]
    open: Mapping[str, str]
    faults: str


def composed(home: Home, item: str, fields: Mapping[str, Sequence[str]]) -> Composed | None:
    """Return the reply that the fields of a page make up; None where they hold no place of the question's form."""
    given = {name.removeprefix(PLACE): values for name, values in fields.items() if name.startswith(PLACE)}
    question = get_question(home, item) if given else None
    form = asks_of(question).form if question else None
    if question is None or form is None:
        return None
    faults = faults_in_words(form, question.aid, given)
    open_places = place_faults(form, question.aid, given) if faults else {}
    return Composed(form.compose(given), given, open_places, faults)


def _material(message: Message | None) -> tuple[QuestionPart, ...]:
    found: list[QuestionPart] = []
    for fenced, text in fenced_pieces(message.text) if message else ():
        rows = _rows(text) if fenced else ()
        if rows:
            found.append(QuestionPart(entries=rows))
        elif text.strip():
            found.append(
                QuestionPart(text=text.strip(), entries=(("", text.strip()),) if fenced else ())._replace(
                    text="" if fenced else text.strip()
                )
            )
    return tuple(found)


def _rows(text: str) -> tuple[tuple[str, str], ...]:
    """Return a list of objects as texts with a heading each; nothing for another text."""
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError:
        return ()
    if not isinstance(read, list) or not all(isinstance(one, dict) and one for one in cast("list[Any]", read)):
        return ()
    return tuple(_row(one) for one in cast("list[dict[str, Any]]", read))


def _row(one: dict[str, Any]) -> tuple[str, str]:
    (name, number), *rest = one.items()
    numbered = name in _NUMBERED
    heading = f"{spoken_name(name)} {number}" if numbered and name not in {"n", "number"} else str(number)
    left = rest if numbered else list(one.items())
    said = [value if isinstance(value, str) else orjson.dumps(value).decode() for _, value in left]
    if len(left) == 1:
        return heading if numbered else "", said[0]
    lines = [f"{spoken_name(key)}: {value}" for (key, _), value in zip(left, said, strict=True)]
    return heading if numbered else "", "\n".join(lines)
