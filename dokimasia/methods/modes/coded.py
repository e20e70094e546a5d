"""Coded atoms: the mode of each, its answer and its score in the evaluation; and examples."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dokimasia.algorithms.modes import second_sample
from dokimasia.domain.criterion import CriteriaSet, Criterion
from dokimasia.domain.failure_modes import AnswerAtoms, Coding, Mode, ModeList, ModeSplit, NoteBook
from dokimasia.domain.identity import unit_interval
from dokimasia.domain.judgement import Answered
from dokimasia.methods.modes.request import NAME, ModesPlan
from dokimasia.methods.tree import find_tree_of_run, load_stored, mapping_of
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import get_result, results
from dokimasia.storage.runs import Run, get_run, list_runs
from dokimasia.storage.trees.lookup import criterion_key

BOOK = "making"
"""The item that makes modes, and the kind of its row."""

SECOND = "second coding"
"""The kind of the rows of second codings."""

EXAMPLES = 2
"""Examples of a mode for each model."""


class CodedAtom(NamedTuple):
    """An atom selected for coding.

    `failed` says whether the evaluation's judge scored it as failed. `coding` is the coder's result, None with a
    `failure`. `second` is the second coder's result, if one was asked (`asked_twice`) and answered. `leaf` is the
    criterion's leaf, empty without a tree.
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
        """The name of the atom's mode; None if it has none or was not coded."""
        if self.coding is None:
            return None
        return self.coding.mode

    @property
    def cluster(self) -> str:
        """The cluster of the atom's sample."""
        return self.answer.cluster

    @property
    def verdict(self) -> Answered:
        """The verdict on the answer's final answer."""
        return self.answer.verdict


@dataclass(frozen=True)
class Coded:
    """The current state of an analysis: modes in order, how they were made (None if they existed), atoms, criteria."""

    run: Run
    plan: ModesPlan
    drawn: ModeSplit
    modes: tuple[Mode, ...]
    book: NoteBook | None
    atoms: Sequence[CodedAtom]
    criteria: Mapping[str, CriteriaSet]

    def criterion(self, atom: CodedAtom) -> Criterion:
        """Return the criterion of an atom."""
        return self.criteria[atom.answer.criteria].criteria[atom.number - 1]

    def among(self, samples: Collection[str]) -> "Coded":
        """Return the part of the analysis that covers some samples."""
        return replace(self, atoms=[atom for atom in self.atoms if atom.answer.sample_id in samples])

    @property
    def models(self) -> list[str]:
        """The models whose answers were read, in alphabetical order."""
        return sorted({*self.drawn.failed, *(atom.answer.model for atom in self.atoms)})


def drawn_of(home: Home, plan: ModesPlan) -> ModeSplit:
    """Return the answers that an analysis reads."""
    return find_values(home, ModeSplit, [plan.drawn])[plan.drawn]


def item_of(kind: str, answer: AnswerAtoms, number: int) -> str:
    """Return the name of an atom's result row."""
    return f"{kind}/{answer.key}/{number}"


def list_id(home: Home, run: Run) -> str | None:
    """Return the id of the analysis's list of modes; None if it has no list yet."""
    plan = run.plan_as(ModesPlan)
    if plan.given:
        return plan.given
    row = get_result(home, run.id, BOOK)
    if row is not None and row.value_ids:
        return row.value_ids[0]
    return None


def modes_of(home: Home, run: Run) -> ModeList | None:
    """Return the analysis's list of modes; None if it has no list yet."""
    id = list_id(home, run)
    if id is None:
        return None
    return find_values(home, ModeList, [id])[id]


def codebook_of(home: Home, run: Run) -> NoteBook | None:
    """Return how the modes were made; None if existing modes are used or none have been made yet."""
    row = get_result(home, run.id, BOOK)
    if row is None or not row.value_ids:
        return None
    id = row.value_ids[1]
    return find_values(home, NoteBook, [id])[id]


def coded_of(home: Home, run: Run) -> Coded:
    """Return the atoms of an analysis that have a row, in the evaluation's order."""
    plan, modes = run.plan_as(ModesPlan), modes_of(home, run)
    split, rows = drawn_of(home, plan), {row.item: row for row in results(home, run.id)}
    codings = find_values(home, Coding, [id for row in rows.values() if row.kind != BOOK for id in row.value_ids])
    coding_of = {item: codings[row.value_ids[0]] for item, row in rows.items() if row.kind != BOOK and row.value_ids}
    second_keys = {answer.key for answer in second_sample(split.counting, seed=plan.seed)}
    tree = find_tree_of_run(home, get_run(home, plan.source))
    leaf_of = {} if tree is None else mapping_of(load_stored(home, tree).tree)
    atoms: list[CodedAtom] = []
    for answer in split.counting:
        for number in answer.numbers:
            item = item_of(NAME, answer, number)
            if item in rows:
                atoms.append(
                    CodedAtom(
                        answer=answer,
                        number=number,
                        failed=number in answer.failed,
                        coding=coding_of.get(item),
                        failure=rows[item].failure,
                        reason=rows[item].reason or "",
                        second=coding_of.get(item_of(SECOND, answer, number)),
                        asked_twice=answer.key in second_keys,
                        leaf=leaf_of.get(criterion_key(answer.criteria, number)) or "",
                    )
                )
    criteria = find_values(home, CriteriaSet, (atom.answer.criteria for atom in atoms))
    return Coded(run, plan, split, modes.modes if modes else (), codebook_of(home, run), atoms, criteria)


def latest_modes(home: Home, source: str) -> Run | None:
    """Return the newest finished analysis of an evaluation's failures; None if there is none."""
    for run in list_runs(home):
        if run.method == NAME and run.status == "done" and run.plan_as(ModesPlan).source == source:
            return run
    return None


def chosen(atoms: Sequence[CodedAtom], modes: Sequence[str], models: Sequence[str], *, seed: int) -> list[CodedAtom]:
    """Return two failed atoms for each mode and model as examples, from different samples if possible.

    Atoms on which a second coder agrees come first; otherwise the choice is random.
    """
    examples: list[CodedAtom] = []
    for mode in modes:
        for model in models:
            model_atoms = [atom for atom in atoms if atom.failed and atom.mode == mode and atom.answer.model == model]
            model_atoms.sort(
                key=lambda atom: (
                    atom.second is None or atom.second.mode != atom.mode,
                    unit_interval("example", seed, atom.answer.key, atom.number),
                )
            )
            by_sample: dict[str, CodedAtom] = {}
            for atom in model_atoms:
                by_sample.setdefault(atom.answer.sample_id, atom)
            first_of_sample = list(by_sample.values())
            further = [atom for atom in model_atoms if atom not in first_of_sample]
            examples += [*first_of_sample, *further][:EXAMPLES]
    return examples
