"""What was coded, atom by atom: the mode that was seen in each, whose answer it is of, and what the evaluation had made of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dokimasia.algorithms.modes import second_sample
from dokimasia.domain.criterion import CriteriaSet, Criterion
from dokimasia.domain.failure_modes import AnswerAtoms, Coding, Mode, ModeList, ModeSplit, NoteBook
from dokimasia.domain.judgement import Answered
from dokimasia.methods.modes.request import NAME, ModesPlan
from dokimasia.methods.tree import find_tree_of_run, load_stored, mapping_of
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import get_result, results
from dokimasia.storage.runs import Run, get_run, list_runs
from dokimasia.storage.trees.lookup import criterion_key

BOOK = "making"
"""The one walk in which modes are made, and the kind of its row."""

SECOND = "second coding"
"""The kind of the rows of atoms that were coded again."""


class CodedAtom(NamedTuple):
    """One atom that was to be coded.

    `failed` says that the evaluation's judge found it failed (else met), `coding` what the coder said, None where `failure`
    says why there is nothing; `second` is the second coder's word, where he was asked and answered; `asked_twice` that he was.
    `leaf` is the criterion's, empty without a tree.
    """

    answer: AnswerAtoms
    number: int
    failed: bool
    coding: Coding | None
    failure: str | None = None
    reason: str = ""
    second: Coding | None = None
    asked_twice: bool = False
    leaf: str = ""

    @property
    def mode(self) -> str | None:
        """The name of the mode that was seen; None where none was, or nothing is known."""
        return None if self.coding is None else self.coding.mode

    @property
    def cluster(self) -> str:
        """The image that it rests on."""
        return self.answer.cluster

    @property
    def verdict(self) -> Answered:
        """Whether the answer's final answer is right."""
        return self.answer.verdict


@dataclass(frozen=True)
class Coded:
    """An analysis as far as it has come: its modes in order, how they were made (None: given), every atom and its criteria."""

    run: Run
    plan: ModesPlan
    drawn: ModeSplit
    modes: tuple[Mode, ...]
    book: NoteBook | None
    atoms: Sequence[CodedAtom]
    criteria: Mapping[str, CriteriaSet]

    def criterion(self, one: CodedAtom) -> Criterion:
        """Return the point that an atom is about."""
        return self.criteria[one.answer.criteria].criteria[one.number - 1]

    def among(self, samples: Collection[str]) -> "Coded":
        """Return what of it rests on some samples alone."""
        return replace(self, atoms=[one for one in self.atoms if one.answer.sample_id in samples])

    @property
    def models(self) -> list[str]:
        """Whose answers were read, in alphabetical order."""
        return sorted({*self.drawn.failed, *(one.answer.model for one in self.atoms)})


def plan_of(run: Run) -> ModesPlan:
    """Return the plan that an analysis was accepted with."""
    return ModesPlan.model_validate(run.options["plan"])


def drawn_of(home: Home, plan: ModesPlan) -> ModeSplit:
    """Return what an analysis reads."""
    return find_values(home, ModeSplit, [plan.drawn])[plan.drawn]


def item_of(kind: str, answer: AnswerAtoms, number: int) -> str:
    """Return the name of an atom's result row."""
    return f"{kind}/{answer.key}/{number}"


def list_id(home: Home, run: Run) -> str | None:
    """Return the id of the modes that atoms are put under; None while there are none."""
    given = plan_of(run).given
    row = None if given else get_result(home, run.id, BOOK)
    return given or (row.value_ids[0] if row is not None and row.value_ids else None)


def modes_of(home: Home, run: Run) -> ModeList | None:
    """Return the modes that atoms are put under; None while there are none."""
    id = list_id(home, run)
    return None if id is None else find_values(home, ModeList, [id])[id]


def book_of(home: Home, run: Run) -> NoteBook | None:
    """Return how the modes were made; None where they were given, or are not made."""
    row = get_result(home, run.id, BOOK)
    return (
        find_values(home, NoteBook, [row.value_ids[1]])[row.value_ids[1]] if row is not None and row.value_ids else None
    )


def coded_of(home: Home, run: Run) -> Coded:
    """Return what an analysis has come to, atom by atom, in the order of the evaluation; atoms without a row are left out."""
    plan, modes = plan_of(run), modes_of(home, run)
    drawn, rows = drawn_of(home, plan), {row.item: row for row in results(home, run.id)}
    codings = find_values(home, Coding, [id for row in rows.values() if row.kind != BOOK for id in row.value_ids])
    twice = {one.key for one in second_sample(drawn.counting, seed=plan.seed)}
    stored = find_tree_of_run(home, get_run(home, plan.source))
    leaf_of = {} if stored is None else mapping_of(load_stored(home, stored).tree)
    atoms: list[CodedAtom] = []
    for answer in drawn.counting:
        for number in answer.numbers:
            row = rows.get(item_of(NAME, answer, number))
            if row is None:
                continue
            again = rows.get(item_of(SECOND, answer, number))
            atoms.append(
                CodedAtom(
                    answer=answer,
                    number=number,
                    failed=number in answer.failed,
                    coding=codings[row.value_ids[0]] if row.value_ids else None,
                    failure=row.failure,
                    reason=row.reason or "",
                    second=codings[again.value_ids[0]] if again is not None and again.value_ids else None,
                    asked_twice=answer.key in twice,
                    leaf=leaf_of.get(criterion_key(answer.criteria, number)) or "",
                )
            )
    criteria = find_values(home, CriteriaSet, (one.answer.criteria for one in atoms))
    return Coded(run, plan, drawn, modes.modes if modes else (), book_of(home, run), atoms, criteria)


def latest_modes(home: Home, source: str) -> Run | None:
    """Return the newest finished analysis of an evaluation's failures; None without one."""
    for run in list_runs(home):
        if run.method == NAME and run.status == "done" and plan_of(run).source == source:
            return run
    return None
