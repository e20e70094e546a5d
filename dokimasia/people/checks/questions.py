"""Questions to people: listing open ones, showing one, answering it, and withdrawing the answer."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dokimasia.domain.call import Message
from dokimasia.domain.decision import CheckItem
from dokimasia.domain.question import PendingQuestion
from dokimasia.domain.sample import Sample
from dokimasia.errors import InputError
from dokimasia.people.checks.checking import checked, decide, keep_decision
from dokimasia.runs.reading.exporting import write_whole
from dokimasia.settings import Settings
from dokimasia.storage.decisions import draft_file, import_filed
from dokimasia.storage.home import Home
from dokimasia.storage.people.questions import OpenQuestion, get_question, has_answers, mark_shown, open_questions
from dokimasia.storage.runs import get_run, load_samples


class Given(NamedTuple):
    """The result of answering: `faults` lists why the answer was not accepted (then only a draft is stored)."""

    faults: str = ""

    @property
    def done(self) -> bool:
        """Whether the answer was stored."""
        return not self.faults


def waiting_questions(home: Home, *, run: str | None = None, who: str | None = None) -> list[OpenQuestion]:
    """Return the open questions of all runs or one, to all people or one, by run and in the order of asking."""
    return open_questions(home, run=run, person=who)


async def show_question(home: Home, item: str) -> PendingQuestion:
    """Return a question for display to its person: its messages with their images, and the empty form of the reply.

    If the home is open for writing, the time of the first showing is stored, from which the reply's cost is computed.

    Raises:
        NotFound: there is no such question; its run may have been deleted.
    """
    question = get_question(home, item)
    if home.is_writing and question.open and not question.shown_at:
        await mark_shown(home, [item])
        question = get_question(home, item)
    return question


def samples_asked(home: Home, items: Sequence[CheckItem]) -> dict[str, str]:
    """Return the sample's id for each item of one run, by the item's id (for a question, see `sample_of`)."""
    samples: list[Sample] = []
    sample_ids: dict[str, str] = {}
    for item in items:
        sample_ids[item.id] = item.sample_id
        if item.kind == "question":
            question = get_question(home, item.id)
            samples = samples or list(load_samples(home, question.run))
            sample_ids[item.id] = sample_of(question, samples)
    return sample_ids


def sample_of(question: PendingQuestion, samples: Sequence[Sample]) -> str:
    """Return the id of the sample that a question is about, which has the question's images and the quoted prompt.

    A question about an image alone, such as to describe it, is about all samples with that image; their ids are joined
    by commas.
    """
    images: set[str] = set()
    for message in question.call.messages:
        images |= {ref.sha256 for ref in message.images}
    text = "\n".join(message.text for message in question.call.messages)
    fits = [sample for sample in samples if images and {ref.sha256 for ref in sample.images} == images]
    quoted: dict[int, list[Sample]] = {}
    for sample in fits or samples:
        prompt = sample.prompt.strip()
        if prompt and prompt in text:
            quoted.setdefault(len(prompt), []).append(sample)
    chosen = fits
    if quoted:
        chosen = quoted[max(quoted)]  # a prompt may be a prefix of another
        chosen = [sample for sample in chosen if all(choice in text for choice in sample.choices)] or chosen
    return ", ".join(sample.id for sample in chosen)


def draft_of(home: Home, question: PendingQuestion, who: str) -> str:
    """Return the saved draft of a person's reply, or the empty form."""
    draft = draft_file(home.path, question.item, who)
    if draft.is_file():
        return draft.read_text(encoding="utf-8", errors="replace")
    return question.aid.form


def keep_draft(home: Home, item: str, who: str, text: str) -> str:
    """Store an unfinished or unusable reply as a draft, and return the path of its file.

    The home need not be open for writing. The draft is deleted once the question is answered.
    """
    draft = draft_file(home.path, item, who)
    draft.parent.mkdir(parents=True, exist_ok=True)
    write_whole(draft, text.encode("utf-8", "replace"))
    return str(draft)


async def answer(home: Home, item: str, text: str, *, who: str) -> Given:
    """Store the answer to a question durably in a home that is open for writing.

    An unusable reply, or one to a question that is no longer open, is stored as the person's draft. Repeating an answer
    with the same text counts once.

    Args:
        home: the home, open for writing.
        item: the question's item.
        text: the reply.
        who: the person to whom the question is addressed.

    Returns:
        The result, with all faults: of the reply's form, or that the question is another person's, answered or withdrawn.

    Raises:
        NotFound: there is no such question; its run may have been deleted.
    """
    try:
        await keep_decision(home, checked(home, item, "reply", who=who, text=text))
    except InputError as problem:
        if problem.__class__ is not InputError:
            raise
        draft_note = f" (your text is kept in {keep_draft(home, item, who, text)})" if text.strip() else ""
        return Given(f"{problem}{draft_note}")
    return Given()


async def undo(home: Home, item: str, *, who: str) -> Given:
    """Withdraw an answer in a home that is open for writing, unless a run depends on it; the text becomes the draft.

    Raises:
        NotFound: there is no such question.
    """
    before = get_question(home, item).reply
    try:
        await keep_decision(home, checked(home, item, "undo", who=who))
    except InputError as problem:
        return Given(str(problem))
    if before:
        keep_draft(home, item, who, before)
    return Given()


def answered_since(home: Home, run: str) -> bool:
    """Return whether a waiting run has new answers, so that a resume can continue it.

    Answers stored as files count once they are imported (`take_in_answers`).
    """
    return get_run(home, run).status == "waiting" and has_answers(home, run)


async def take_in_answers(home: Home) -> int:
    """Import decisions that other processes stored as files while this one was writing, and return their number."""
    return await import_filed(home)


def answer_all(settings: Settings, run: str, who: str, reply: Callable[[Sequence[Message]], str]) -> int:
    """Answer a person's open questions in a run by a function, and return the number of answers.

    Raises:
        InputError: a reply is unusable.
    """
    with Home.open(settings.home, write=False) as home:
        questions = [get_question(home, waiting.item) for waiting in waiting_questions(home, run=run, who=who)]
    for question in questions:
        decide(question.item, "reply", text=reply(question.call.messages), who=who, settings=settings)
    return len(questions)
