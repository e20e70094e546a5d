"""The source run of a refinement: its scored answers, and the peers that solved failed atoms."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from dokimasia.algorithms.closed_loop import Need, assign_peers, failed_atoms, withhold
from dokimasia.domain.call import model_names
from dokimasia.domain.identity import digest
from dokimasia.domain.judgement import Answered
from dokimasia.domain.refinement import SOLVED
from dokimasia.errors import InputError
from dokimasia.methods.evaluation import METHOD as EVALUATION
from dokimasia.methods.evaluation import EvaluationPlan
from dokimasia.methods.refinement.request import LIMITS, RefinementPlan
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, get_run, judgement_scores, run_samples

Peers = dict[str, dict[str, list[list[str]]]]
"""Peers that solved an atom, in order of preference, each with its own answer; by failed answer and atom."""


class SourceAnswer(NamedTuple):
    """A scored answer of the source run: ids of its values, verdict, scores by atom and weighted score.

    Without a decision on the answer, `final` is empty and `verdict` None.
    """

    sample_id: str
    sample_digest: str
    model: str
    repeat: int
    chain: str
    final: str
    verdict: Answered | None
    criteria: str
    response: str
    judgement: str
    scores: tuple[int, ...]
    score: float

    @property
    def key(self) -> str:
        """The unique name of the answer in the run."""
        return f"{self.sample_id}/{self.model}/{self.repeat}"


class SourceRun(NamedTuple):
    """The source run's plan and its scored answers, in order."""

    plan: EvaluationPlan
    answers: tuple[SourceAnswer, ...]

    @property
    def digest(self) -> str:
        """A hash of everything that a refinement uses of the run."""
        return digest("taken-for-refinement/1", [list(answer) for answer in self.answers])

    def part(self, samples: Collection[str]) -> "SourceRun":
        """Return the run with only the answers to some samples, by name."""
        return self._replace(answers=tuple(answer for answer in self.answers if answer.sample_id in samples))


def read_source(home: Home, run: Run) -> SourceRun:
    """Return the plan and the refinable answers of a run.

    Answers without the image are not refined. Answers without a score cannot be refined, since their failed atoms are
    unknown.

    Raises:
        NotFound: the run is not an evaluation.
        InputError: the run is not finished.
    """
    plan, _ = EVALUATION.read(run)
    if run.status != "done":
        raise InputError(
            f"run {run.id} is not finished ({run.status}), so its failures are not all known: dokimasia resume {run.id}"
        )
    scores = judgement_scores(home, run.id)
    rows = results(home, run.id, as_judged=True)
    chains = {row.sample_id: row.chain_id for row in rows if row.chain_id}
    answers: list[SourceAnswer] = []
    for row in rows:
        if row.kind != "score" or row.arm or row.score is None:
            continue
        if row.criteria_id and row.response_id and row.judgement_id:
            answers.append(
                SourceAnswer(
                    sample_id=row.sample_id,
                    sample_digest=row.sample_digest,
                    model=row.model,
                    repeat=row.repeat,
                    chain=chains.get(row.sample_id, ""),
                    final=row.final_id or "",
                    verdict=row.verdict,
                    criteria=row.criteria_id,
                    response=row.response_id,
                    judgement=row.judgement_id,
                    scores=scores[row.judgement_id],
                    score=row.score,
                )
            )
    return SourceRun(plan, tuple(answers))


def refined_part(home: Home, run: Run, source: str) -> SourceRun:
    """Return the part of the source run, by id, that a stored refinement refines.

    Raises:
        InputError: see `read_source`.
    """
    return read_source(home, get_run(home, source)).part({place.sample_id for place in run_samples(home, run.id)})


def peers_for(atoms_of: Mapping[SourceAnswer, Sequence[int]], source: SourceRun, plan: RefinementPlan) -> Peers:
    """Return the peers for each atom that feedback on a failed answer may name.

    A peer solved an atom if its mean score over its repeats is 4 or above. The peer writes its hint from its best answer
    on the atoms it solved. Peers are taken in the run's order, so that the choice does not depend on timing.

    Args:
        atoms_of: by failed answer, the atoms that feedback may name.
        source: the source run.
        plan: the plan of the refinement.
    """
    names = model_names(plan.peers)
    by_sample: dict[str, dict[str, list[SourceAnswer]]] = {}
    for answer in source.answers:
        if answer.model in names:
            by_sample.setdefault(answer.sample_id, {}).setdefault(answer.model, []).append(answer)
    solved: dict[Need, dict[str, float]] = {}
    best: dict[tuple[str, str], str] = {}
    for answer, atoms in atoms_of.items():
        for peer, answers in by_sample.get(answer.sample_id, {}).items():
            if peer == answer.model:
                continue
            solved_atoms: list[int] = []
            for atom in atoms:
                mean = sum(peer_answer.scores[atom - 1] for peer_answer in answers) / len(answers)
                if mean >= SOLVED:
                    solved_atoms.append(atom)
                    solved.setdefault(Need(answer.key, atom), {})[peer] = mean
            best_answer = max(
                answers,
                key=lambda peer_answer: (
                    sum(peer_answer.scores[atom - 1] for atom in solved_atoms),
                    -peer_answer.repeat,
                ),
            )
            best[answer.key, peer] = best_answer.response
    needs = [Need(answer.key, atom) for answer, atoms in atoms_of.items() for atom in atoms]
    order = assign_peers(needs, solved, seed=plan.seed, apart=plan.protocol == "published")
    peers: Peers = {}
    for need, names_in_order in order.items():
        with_answers = [[peer, best[need.key, peer]] for peer in names_in_order]
        peers.setdefault(need.key, {})[str(need.atom)] = with_answers
    return peers


def most_shown(answer: SourceAnswer, plan: RefinementPlan) -> tuple[int, ...]:
    """Return the maximum set of atoms that feedback may name, as if every failed atom could be fed back."""
    return withhold(failed_atoms(answer.scores), plan.withhold, plan.seed).shown


def graph_inputs(answer: SourceAnswer, plan: RefinementPlan, sample: str) -> dict[str, JsonValue]:
    """Return the graph inputs that all arms of an answer share; `sample` is the sample's id in the store."""
    inputs: dict[str, JsonValue] = {
        "sample": sample,
        "chain": answer.chain,
        "criteria": answer.criteria,
        "source": answer.response,
        "source_judgement": answer.judgement,
        "model": answer.model,
        "repeat": answer.repeat,
        **plan.model_dump(include=LIMITS),
    }
    if plan.threshold is not None:
        inputs["below"] = answer.score < plan.threshold
    return inputs
