"""Checks by people: a waiting item, a person's decision on it, and the item's state after all decisions."""

import difflib
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal, get_args

from pydantic import Field, field_validator, model_validator

from dokimasia.domain.blindspots import LABELS, Label
from dokimasia.domain.identity import Value, digest

Rating = Literal["pair", "response", "criterion"]
"""The things rated blind, as handed out: two responses, one, or an atomic criterion."""

Kind = Literal["caption", "rubric", "perturbation", "question"] | Rating
"""The kind of an item: golden caption, rubric, gold answer with its perturbation, question to a person, or rating."""

RATED: tuple[Kind, ...] = get_args(Rating)

TextAction = Literal["accept", "edit", "reject"]
"""A person's decision on a text. Deleting a sentence is an edit."""

ReplyAction = Literal["reply", "undo"]
"""A person's action on a question: answering it, or undoing the answer while no run has used it."""

Action = TextAction | Label | ReplyAction | Literal["rate"]
"""A person's decision; on a perturbation it is one of `LABELS`. Every decision can be undone (`undo`)."""

ACTIONS: dict[Kind, tuple[Action, ...]] = {
    "caption": get_args(TextAction),
    "rubric": get_args(TextAction),
    "perturbation": LABELS,
    "question": get_args(ReplyAction),
    **dict.fromkeys(RATED, ("rate",)),
}
"""The possible decisions by kind of item."""

ChangeReason = Literal["boundary", "spatial", "low_visibility", "vague", "attribute", "text", "omission", "other"]
"""A reason for editing or rejecting a caption; the first three are the hard cases of PerceptionRubrics, appendix D."""

CHANGE_REASONS: dict[ChangeReason, str] = {
    "boundary": "material or edge misread, or two things merged",
    "spatial": "place or relation not quite right",
    "low_visibility": "invented where it is dark, blurred or covered",
    "vague": "vague where it could be definite or left out",
    "attribute": "wrong colour, number, kind or action",
    "text": "text in the image misread",
    "omission": "something important left out",
    "other": "another reason",
}
"""The meanings of the reasons; `vague` is the paper's policy, the ones after it are this project's."""

REASON_ACTIONS: tuple[Action, ...] = ("edit", "reject")
"""The decisions on a caption that may have reasons."""

State = Literal["waiting", "accepted", "edited", "rejected", "answered", "rated"] | Label
"""The state of an item; for a perturbation, its label."""

ShownState = State | Literal["decided"]
"""The state of an item as shown to a person: `decided` if others have decided, and their decisions are hidden."""

STATES: dict[Action, State] = {
    "accept": "accepted",
    "edit": "edited",
    "reject": "rejected",
    "reply": "answered",
    "undo": "waiting",
    "rate": "rated",
    **{label: label for label in LABELS},
}

_SENTENCE = re.compile(r"(?<=[.!?])(?:[\"'\u201d\u2019)])?\s+(?=\S)")


_DONE: dict[Kind, str] = {
    "caption": "not labelled",
    "rubric": "not labelled",
    "perturbation": "labelled, and not accepted, edited or rejected",
    "question": "answered in words",
    **dict.fromkeys(RATED, "rated"),
}


class CheckItem(Value):
    """Something that a person is to check: the text of a value (`subject`, its content id) that a run made.

    Of a perturbation the text is the changed answer, or what the editing model was told. `detail` is what helps to
    decide, such as a rubric's stream and evidence. `position` orders the items of a run. A question's text is its prompt's,
    `subject` the key of its call, `detail` the prompt's name, and `person` who is asked. A rating's text is what `person` is
    shown, and `detail` the key behind it, both as JSON.
    """

    run: str
    kind: Kind
    sample_id: str
    subject: str
    text: str
    detail: str = ""
    position: int = Field(default=0, ge=0)
    person: str | None = None

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions that can be decided on the item."""
        return ACTIONS[self.kind]

    def refusal(self, action: Action) -> str:
        """Return why an action is not possible; empty if it is."""
        if action in self.actions or action == "undo":
            return ""
        return f"item {self.id}: a {self.kind} is {_DONE[self.kind]}: what can be decided is {', '.join(self.actions)}"

    def reason_refusal(self, action: Action, reasons: Sequence[ChangeReason]) -> str:
        """Return why a decision cannot have reasons; empty if it can, or has none."""
        if not reasons or (self.kind == "caption" and action in REASON_ACTIONS):
            return ""
        return (
            f"item {self.id}: reasons belong to an edit or a rejection of a caption, not to {action} of a {self.kind}"
        )

    def told(self, who: str) -> str:
        """Return the notice that the item is another person's question; empty otherwise."""
        if self.person is None or who == self.person:
            return ""
        if self.kind in RATED:
            return f"item {self.id} was handed out to {self.person}, and {who} cannot rate it: --who {self.person}"
        return f"item {self.id} is a question to {self.person}, and {who} cannot answer it: --who {self.person}"

    @property
    def id(self) -> str:
        """The item's content id: over run, kind, sample and subject."""
        return digest("check-item/1", [self.run, self.kind, self.sample_id, self.subject])[:16]


class Decision(Value):
    """What a person decided on an item: `text` is the text after it, and `difference` what was changed, as a unified diff.

    `number` counts the decisions on the item from 1; `at` is when, in UTC and ISO form. `reasons` say why a caption was edited
    or rejected, each once, in the order of `CHANGE_REASONS`; rows hold them as one text, with commas between.
    """

    item: str
    number: int = Field(ge=1)
    who: str = Field(min_length=1, max_length=100)
    at: str
    action: Action
    text: str
    difference: str = ""
    reasons: tuple[ChangeReason, ...] = ()

    @field_validator("reasons", mode="before")
    @classmethod
    def _from_row(cls, reasons: object) -> object:
        if reasons is None or isinstance(reasons, str):
            if reasons:
                return tuple(reasons.split(","))
            return ()
        return reasons

    @model_validator(mode="after")
    def _only_an_edit_changes(self) -> "Decision":
        if (self.action == "edit") != bool(self.difference):
            raise ValueError("an edit has a difference, and no other decision has")
        return self

    @property
    def id(self) -> str:
        """The decision's content id; its time is not part of it."""
        reasons = [",".join(self.reasons)] if self.reasons else []
        return digest("decision/1", [self.item, self.number, self.who, self.action, self.text, *reasons])[:16]


class Standing(Value):
    """An item with all decisions on it, in order, and the state they lead to.

    The person who decides first settles the item, and may change the decision. Decisions of others are second opinions:
    stored and compared, without effect. A decision that was taken back does not count.
    """

    item: CheckItem
    decisions: tuple[Decision, ...] = ()

    @property
    def opinions(self) -> dict[str, Decision]:
        """The last decision of each person, without undone ones, in the order of each person's first decision."""
        by_person: dict[str, Decision] = {}
        for decision in self.decisions:
            if decision.action == "undo":
                by_person.pop(decision.who, None)
            else:
                by_person[decision.who] = decision
        return by_person

    @property
    def settled_by(self) -> Decision | None:
        """The decision in effect: the last one of the person who decided first."""
        return next(iter(self.opinions.values()), None)

    @property
    def state(self) -> State:
        """The item's state."""
        settled = self.settled_by
        if settled is None:
            return "waiting"
        return STATES[settled.action]

    @property
    def text(self) -> str:
        """The current text: as edited, or else the original."""
        settled = self.settled_by
        if settled is None:
            return self.item.text
        return settled.text

    def decisions_for(self, who: str) -> tuple[Decision, ...]:
        """Return the decisions a person may see: their own, and others' once theirs is stored; never others' ratings."""
        if self.item.kind not in RATED and who in self.opinions:
            return self.decisions
        return tuple(decision for decision in self.decisions if decision.who == who)

    def state_for(self, who: str) -> ShownState:
        """Return the item's state for a person, without others' decisions until the person has decided."""
        hidden = self.item.person is None and who not in self.opinions
        if hidden and self.state != "waiting":
            return "decided"
        return self.state

    def last_of(self, who: str) -> Decision | None:
        """Return a person's last decision on the item; None without one, or if it was undone."""
        return self.opinions.get(who)


def ordered_reasons(reasons: Iterable[ChangeReason]) -> tuple[ChangeReason, ...]:
    """Return reasons in the order of `CHANGE_REASONS`, each once."""
    chosen = set(reasons)
    return tuple(reason for reason in CHANGE_REASONS if reason in chosen)


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, in order; joined by spaces they give the text except for line breaks."""
    ends = [0, *(gap.end() for gap in _SENTENCE.finditer(text)), len(text)]
    pieces = (text[start:end].strip() for start, end in pairwise(ends))
    return [piece for piece in pieces if piece]


def without_sentences(text: str, numbers: Sequence[int]) -> str:
    """Return a text without some of its sentences, numbered from 1.

    Raises:
        ValueError: a number is out of range, or no sentence would remain.
    """
    sentences = sentences_of(text)
    unknown = [number for number in numbers if not 1 <= number <= len(sentences)]
    if unknown or not numbers:
        raise ValueError(f"there are sentences 1 to {len(sentences)}, not {', '.join(map(str, unknown)) or 'none'}")
    remaining = [sentence for number, sentence in enumerate(sentences, 1) if number not in numbers]
    if not remaining:
        raise ValueError("no sentence would be left: reject the text instead")
    return " ".join(remaining)


def difference(before: str, after: str) -> str:
    """Return a unified diff with one sentence per line; empty if nothing changed."""
    if before == after:
        return ""
    lines = difflib.unified_diff(sentences_of(before), sentences_of(after), "before", "after", lineterm="", n=0)
    return "\n".join(lines) or "--- before\n+++ after\n(only spaces)"


def rubric_subject(set_id: str, number: int) -> str:
    """Return a rubric's subject for checks: its set's content id and its position in it, from 1."""
    return f"{set_id}/{number}"
