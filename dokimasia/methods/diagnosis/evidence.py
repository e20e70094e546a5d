"""From a table of a diagnosis, a row of it, a leaf or a model down to the atoms behind it: image, answer, truth, score."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dokimasia.agents.candidate import stated_answer
from dokimasia.algorithms.scoring import normalise
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.diagnosis.tables import Asset, AssetRow, Diagnosis
from dokimasia.domain.judgement import Response
from dokimasia.errors import NotFound
from dokimasia.methods.diagnosis.leaves import name_of
from dokimasia.methods.diagnosis.material import Gathered
from dokimasia.methods.tree import mapping_of, members_below
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, judgement_scores, judgement_stated
from dokimasia.storage.trees.lookup import KEY_LENGTH, criterion_key

SHOWN = 10
HIGH_FIRST = frozenset({"strong", "better"})


@dataclass(frozen=True, slots=True)
class EvidenceTarget:
    """What is asked about: a table or a row of it, whose atoms these are, at which node and of which samples (empty: all)."""

    text: str
    models: tuple[str, ...]
    asset: Asset | None = None
    row: AssetRow | None = None
    node: str = ""
    samples: tuple[str, ...] = ()


class _Atom(NamedTuple):
    row: ResultRow
    number: int
    key: str
    score: int | None
    stated: bool | None


def evidence(
    home: Home, run: Run, gathered: Gathered, diagnosis: Diagnosis, text: str, *, limit: int = SHOWN
) -> dict[str, Any]:
    """Return the atoms behind a claim, ready for JSON: the lowest scores first (behind a strength the highest).

    Args:
        home: where the run is, open for reading at least.
        run: an evaluation.
        gathered: what its diagnosis was made from.
        diagnosis: its tables.
        text: `ASSET`, `ASSET:ROW` (a row's number from 1, or its first cell), a leaf's name or path, or a model's name.
        limit: how many atoms are given.

    Returns:
        run, target, asset, row (its number; None for all), sentence, models, node, atoms (how many there are), scored,
        shown: [{model, sample, repeat, criterion, key, leaf, question, ground_truth, weight, score (1 to 5; None with
        failure), stated (whether the answer speaks to the criterion; None with failure), points (0 to 100), failure,
        prompt, reference_answer, answer (the whole response), final_answer, images [{sha256, media_type, width, height}],
        anchor}].

    Raises:
        NotFound: nothing of that name is in the diagnosis; the message names near ones.
    """
    return evidence_of(home, run, gathered, diagnosis, [text], limit=limit)[text]


def evidence_of(
    home: Home, run: Run, gathered: Gathered, diagnosis: Diagnosis, texts: Iterable[str], *, limit: int = SHOWN
) -> dict[str, dict[str, Any]]:
    """Return the atoms behind several claims, by what was asked, reading the run's rows once; see `evidence`."""
    targets = {text: find_target(diagnosis, gathered, text) for text in dict.fromkeys(texts)}
    every = results(home, run.id, as_judged=True)
    rows = [row for row in every if row.kind == "score" and not row.arm and row.criteria_id]
    judged = judgement_scores(home, run.id), judgement_stated(home, run.id)
    return {
        text: _behind(home, run, gathered, target, _atoms(gathered, target, rows, *judged), limit)
        for text, target in targets.items()
    }


def find_target(diagnosis: Diagnosis, gathered: Gathered, text: str) -> EvidenceTarget:
    """Return what a text asks about.

    Raises:
        NotFound: nothing of that name is in the diagnosis.
    """
    wanted = text.strip()
    asset = diagnosis.asset(wanted)
    if asset is not None:
        return EvidenceTarget(wanted, (asset.model,) if asset.model else diagnosis.models, asset)
    name, mark, place = wanted.rpartition(":")
    asset = diagnosis.asset(name) if mark else None
    if asset is not None:
        row = _row(asset, place.strip())
        named = tuple(str(cell.value) for cell in row.cells if cell.value in diagnosis.models)
        models = (row.model or asset.model,) if row.model or asset.model else named or diagnosis.models
        return EvidenceTarget(wanted, models, asset, row, row.node, row.samples)
    if wanted in diagnosis.models:
        return EvidenceTarget(wanted, (wanted,))
    every = [node for node in map(str, gathered.material.tree) if node.startswith("<")]
    nodes = [wanted] if wanted in every else [node for node in every if name_of(node).casefold() == wanted.casefold()]
    if len(nodes) == 1:
        return EvidenceTarget(wanted, diagnosis.models, node=nodes[0])
    if nodes:
        raise NotFound(f"{wanted!r} names {len(nodes)} nodes: {', '.join(nodes)}; name one by its path")
    known = [*(one.id for one in diagnosis.assets), *diagnosis.models, *map(name_of, every)]
    near = difflib.get_close_matches(wanted, known, n=3) or [one.id for one in diagnosis.assets[:3]]
    raise NotFound(
        f"the diagnosis of run {diagnosis.run} has no asset, model or leaf {wanted!r}; near: {', '.join(near)}"
    )


def _behind(
    home: Home, run: Run, gathered: Gathered, target: EvidenceTarget, atoms: Iterable[_Atom], limit: int
) -> dict[str, Any]:
    row = target.row
    high = row is not None and row.mark in HIGH_FIRST
    found = sorted(
        atoms,
        key=lambda one: (
            one.score is None,
            -(one.score or 0) if high else (one.score or 0),
            one.row.sample_id,
            one.row.model,
            one.row.repeat,
            one.number,
        ),
    )
    return {
        "run": run.id,
        "target": target.text,
        "asset": target.asset.id if target.asset else None,
        "row": target.asset.rows.index(row) + 1 if target.asset and row else None,
        "sentence": target.asset.sentence if target.asset else "",
        "models": list(target.models),
        "node": target.node,
        "atoms": len(found),
        "scored": sum(one.score is not None for one in found),
        "shown": _shown(home, run, gathered, found[:limit]),
    }


def _row(asset: Asset, place: str) -> AssetRow:
    if place.isdecimal() and 1 <= int(place) <= len(asset.rows):
        return asset.rows[int(place) - 1]
    found = [row for row in asset.rows if place and place in (row.key, str(row.cells[0].value))]
    if len(found) == 1:
        return found[0]
    raise NotFound(
        f"{asset.id} has no row {place!r}: it has {len(asset.rows)}"
        + (f", from 1 to {len(asset.rows)}" if asset.rows else "")
    )


def _atoms(
    gathered: Gathered,
    target: EvidenceTarget,
    rows: Iterable[ResultRow],
    scores: Mapping[str, tuple[int, ...]],
    stated: Mapping[str, tuple[bool, ...]],
) -> Iterator[_Atom]:
    """Yield the atoms of the answers that are asked about; an answer that failed gives them without a score."""
    wanted = set(members_below(gathered.material.tree)[target.node]) if target.node else None
    sizes: dict[str, int] = {}
    for key in gathered.material.measured.sample_of:
        id, _, number = key.rpartition(":")
        sizes[id] = max(sizes.get(id, 0), int(number))
    for row in rows:
        if row.model not in target.models or (target.samples and row.sample_id not in target.samples):
            continue
        criteria = row.criteria_id or ""
        judgement = row.judgement_id or "" if row.failure is None else ""
        judged = list(zip(scores.get(judgement, ()), stated.get(judgement, ()), strict=True))
        for number in range(1, sizes.get(criteria[:KEY_LENGTH], 0) + 1):
            key = criterion_key(criteria, number)
            if wanted is None or key in wanted:
                yield _Atom(row, number, key, *(judged[number - 1] if number <= len(judged) else (None, None)))


def _shown(home: Home, run: Run, gathered: Gathered, atoms: Sequence[_Atom]) -> list[dict[str, Any]]:
    leaf_of = mapping_of(gathered.material.tree)
    samples = samples_of(home, run.id, {one.row.sample_id for one in atoms})
    sets = find_values(home, CriteriaSet, (one.row.criteria_id for one in atoms if one.row.criteria_id))
    answers = find_values(home, Response, (one.row.response_id for one in atoms if one.row.response_id))
    shown: list[dict[str, Any]] = []
    for one in atoms:
        sample, criterion = samples[one.row.sample_id], sets[one.row.criteria_id or ""].criteria[one.number - 1]
        answer = answers.get(one.row.response_id or "")
        shown.append(
            {
                "model": one.row.model,
                "sample": sample.id,
                "repeat": one.row.repeat,
                "criterion": one.number,
                "key": one.key,
                "leaf": leaf_of.get(one.key),
                "question": criterion.question,
                "ground_truth": criterion.ground_truth,
                "weight": criterion.weight,
                "score": one.score,
                "stated": one.stated,
                "points": None if one.score is None else normalise(one.score),
                "failure": one.row.failure,
                "prompt": sample.prompt,
                "reference_answer": sample.reference_answer,
                "answer": answer.text if answer else None,
                "final_answer": stated_answer(answer.text)[0] if answer else None,
                "images": [
                    image.model_dump(mode="json", include={"sha256", "media_type", "width", "height"})
                    for image in sample.images
                ],
                "anchor": criterion.anchor.model_dump(mode="json"),
            }
        )
    return shown
