"""The evidence behind a table, a row, a leaf or a model: atoms with image, answer, ground truth and score."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import JsonValue

from dokimasia.agents.candidate import stated_answer
from dokimasia.algorithms.scoring import normalise
from dokimasia.domain.criterion import Anchor, CriteriaSet
from dokimasia.domain.diagnosis.tables import Asset, AssetRow, Diagnosis
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import FailureKind, Response
from dokimasia.domain.sample import MediaType
from dokimasia.errors import NotFound
from dokimasia.methods.diagnosis.evidence_data import DiagnosisData, by_category, gather
from dokimasia.methods.diagnosis.figures import DiagnosisFigures, corrected_since, latest_words, words_figures
from dokimasia.methods.diagnosis.leaf_tables import name_of
from dokimasia.methods.diagnosis.tables import stored_diagnosis, stored_diagnosis_id
from dokimasia.methods.tree import find_tree_of_run, mapping_of, members_below
from dokimasia.storage.excerpts import samples_of
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import NOT_JUDGED, JudgedCriteria, Run, judged_criteria
from dokimasia.storage.trees.lookup import KEY_LENGTH, criterion_key

MOST_ATOMS = 10
REPORTED_ATOMS = 5
MOST_MARKED = 60
"""Maximum number of rows with evidence in a report: marked ones first, then each model's lowest leaves."""

MOST_CITED = 120
"""Maximum number of additional rows with evidence, to which sentences refer."""

HIGH_FIRST = frozenset({"strong", "better"})


class EvidenceImage(Value):
    """An image of a sample, without its bytes."""

    sha256: str
    media_type: MediaType
    width: int
    height: int


class EvidenceAtom(Value):
    """One criterion of one answer: `score` 1 to 5 and `points` 0 to 100, both null with a `failure`.

    `stated` says whether the answer speaks to the criterion (null with a failure); `answer` is the whole response.
    """

    model: str
    sample: str
    repeat: int
    criterion: int
    key: str
    leaf: str | None
    question: str
    ground_truth: str
    weight: int
    score: int | None
    stated: bool | None
    points: float | None
    failure: FailureKind | None
    prompt: str
    reference_answer: str | None
    answer: str | None
    final_answer: str | None
    images: tuple[EvidenceImage, ...]
    anchor: Anchor


class Evidence(Value):
    """The atoms behind a claim: how many there are, how many have a score, and some of them whole.

    `row` is the number of the table's row, null for the whole table.
    """

    run: str
    target: str
    asset: str | None
    row: int | None
    sentence: str
    models: tuple[str, ...]
    node: str
    atoms: int
    scored: int
    shown: tuple[EvidenceAtom, ...]


class ReportedDiagnosis(Diagnosis):
    """A stored diagnosis as a run's report has it.

    `evidence` is by row (`ASSET:ROW`); `words` are the figures of the newest diagnosis in words, and `cited` the rows that
    places of the words lead to (none where the words are of other tables).
    """

    evidence: dict[str, Evidence]
    words: DiagnosisFigures | None
    cited: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EvidenceTarget:
    """The selection behind a claim: models and, optionally, a table, a row, a node and samples (empty for all)."""

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


def evidence_of(
    home: Home,
    run: Run,
    diagnosis_data: DiagnosisData,
    diagnosis: Diagnosis,
    texts: Iterable[str],
    *,
    limit: int = MOST_ATOMS,
) -> dict[str, Evidence]:
    """Return the atoms behind claims, by claim, lowest scores first (for a strength, highest first).

    Args:
        home: the home.
        run: an evaluation.
        diagnosis_data: the data of its diagnosis.
        diagnosis: its tables.
        texts: the claims: `ASSET`, `ASSET:ROW` (a row's number from 1, or its first cell), a leaf's name or path, or a
            model's name.
        limit: maximum number of atoms to return for each claim.

    Raises:
        NotFound: the diagnosis has no such table, row, leaf or model; the message suggests similar names.
    """
    targets = {text: _find_target(diagnosis, diagnosis_data, text) for text in dict.fromkeys(texts)}
    rows = [
        row for row in results(home, run.id, as_judged=True) if row.kind == "score" and not row.arm and row.criteria_id
    ]
    criteria_judgements = judged_criteria(home, run.id)
    evidence: dict[str, Evidence] = {}
    for text, target in targets.items():
        atoms = _sort_atoms(target, _atoms(diagnosis_data, target, rows, criteria_judgements))
        number = None
        if target.asset and target.row:
            number = target.asset.rows.index(target.row) + 1
        evidence[text] = Evidence(
            run=run.id,
            target=target.text,
            asset=target.asset.id if target.asset else None,
            row=number,
            sentence=target.asset.sentence if target.asset else "",
            models=target.models,
            node=target.node,
            atoms=len(atoms),
            scored=sum(atom.score is not None for atom in atoms),
            shown=tuple(_whole_atoms(home, run, diagnosis_data, atoms[:limit])),
        )
    return evidence


def evidence(
    home: Home, run: Run, diagnosis_data: DiagnosisData, diagnosis: Diagnosis, text: str, *, limit: int = MOST_ATOMS
) -> Evidence:
    """Return the atoms behind one claim (see `evidence_of`).

    Raises:
        NotFound: the diagnosis has no such table, row, leaf or model; the message suggests similar names.
    """
    return evidence_of(home, run, diagnosis_data, diagnosis, [text], limit=limit)[text]


def _find_target(diagnosis: Diagnosis, diagnosis_data: DiagnosisData, text: str) -> EvidenceTarget:
    """Return the target that a text names.

    Raises:
        NotFound: the diagnosis has no such table, row, leaf or model.
    """
    name = text.strip()
    asset = diagnosis.asset(name)
    if asset is not None:
        return EvidenceTarget(name, (asset.model,) if asset.model else diagnosis.models, asset)
    asset_id, colon, row_text = name.rpartition(":")
    asset = diagnosis.asset(asset_id) if colon else None
    if asset is not None:
        row = _find_row(asset, row_text.strip())
        model = row.model or asset.model
        if model:
            models: tuple[str, ...] = (model,)
        else:
            models = tuple(str(cell.value) for cell in row.cells if cell.value in diagnosis.models)
        return EvidenceTarget(name, models or diagnosis.models, asset, row, row.node, row.samples)
    if name in diagnosis.models:
        return EvidenceTarget(name, (name,))
    nodes = [node for node in map(str, diagnosis_data.material.tree) if node.startswith("<")]
    matches = [name] if name in nodes else [node for node in nodes if name_of(node).casefold() == name.casefold()]
    if len(matches) == 1:
        return EvidenceTarget(name, diagnosis.models, node=matches[0])
    if matches:
        raise NotFound(f"{name!r} names {len(matches)} nodes: {', '.join(matches)}; name one by its path")
    assets = [asset.id for asset in diagnosis.assets]
    similar = difflib.get_close_matches(name, [*assets, *diagnosis.models, *map(name_of, nodes)], n=3) or assets[:3]
    raise NotFound(
        f"the diagnosis of run {diagnosis.run} has no asset, model or leaf {name!r}; near: {', '.join(similar)}"
    )


def _find_row(asset: Asset, text: str) -> AssetRow:
    if text.isdecimal() and 1 <= int(text) <= len(asset.rows):
        return asset.rows[int(text) - 1]
    rows = [row for row in asset.rows if text and text in (row.key, str(row.cells[0].value))]
    if len(rows) == 1:
        return rows[0]
    span = f", from 1 to {len(asset.rows)}" if asset.rows else ""
    raise NotFound(f"{asset.id} has no row {text!r}: it has {len(asset.rows)}{span}")


def _sort_atoms(target: EvidenceTarget, atoms: Iterable[_Atom]) -> list[_Atom]:
    """Return the atoms with the lowest scores first (for a strength, the highest), and those without a score last."""
    sign = -1 if target.row is not None and target.row.mark in HIGH_FIRST else 1

    def order(atom: _Atom) -> tuple[bool, int, str, str, int, int]:
        score = sign * (atom.score or 0)
        return atom.score is None, score, atom.row.sample_id, atom.row.model, atom.row.repeat, atom.number

    return sorted(atoms, key=order)


def _atoms(
    diagnosis_data: DiagnosisData,
    target: EvidenceTarget,
    rows: Iterable[ResultRow],
    judgements: Mapping[str, JudgedCriteria],
) -> Iterator[_Atom]:
    """Yield the atoms of the target's answers; those of a failed answer have no score."""
    criteria_below = set(members_below(diagnosis_data.material.tree)[target.node]) if target.node else None
    sizes: dict[str, int] = {}
    for key in diagnosis_data.material.measured.sample_of:
        id, _, number = key.rpartition(":")
        sizes[id] = max(sizes.get(id, 0), int(number))
    for row in rows:
        if row.model not in target.models or (target.samples and row.sample_id not in target.samples):
            continue
        criteria_id = row.criteria_id or ""
        judgement_id = row.judgement_id or "" if row.failure is None else ""
        verdicts = list(zip(*judgements.get(judgement_id, NOT_JUDGED), strict=True))
        for number in range(1, sizes.get(criteria_id[:KEY_LENGTH], 0) + 1):
            key = criterion_key(criteria_id, number)
            if criteria_below is not None and key not in criteria_below:
                continue
            score, spoken_to = verdicts[number - 1] if number <= len(verdicts) else (None, None)
            yield _Atom(row, number, key, score, spoken_to)


def _whole_atoms(home: Home, run: Run, diagnosis_data: DiagnosisData, atoms: Sequence[_Atom]) -> Iterator[EvidenceAtom]:
    leaf_of = mapping_of(diagnosis_data.material.tree)
    rows = [atom.row for atom in atoms]
    samples = samples_of(home, run.id, {row.sample_id for row in rows})
    sets = find_values(home, CriteriaSet, (row.criteria_id for row in rows if row.criteria_id))
    responses = find_values(home, Response, (row.response_id for row in rows if row.response_id))
    for atom in atoms:
        row = atom.row
        sample, criterion = samples[row.sample_id], sets[row.criteria_id or ""].criteria[atom.number - 1]
        response = responses.get(row.response_id or "")
        yield EvidenceAtom(
            model=row.model,
            sample=sample.id,
            repeat=row.repeat,
            criterion=atom.number,
            key=atom.key,
            leaf=leaf_of.get(atom.key),
            question=criterion.question,
            ground_truth=criterion.ground_truth,
            weight=criterion.weight,
            score=atom.score,
            stated=atom.stated,
            points=None if atom.score is None else normalise(atom.score),
            failure=row.failure,
            prompt=sample.prompt,
            reference_answer=sample.reference_answer,
            answer=response.text if response else None,
            final_answer=stated_answer(response.text)[0] if response else None,
            images=tuple(EvidenceImage(**image.model_dump(exclude={"kind"})) for image in sample.images),
            anchor=criterion.anchor,
        )


def report_diagnosis(home: Home, run: Run) -> dict[str, JsonValue] | None:
    """Return the `ReportedDiagnosis` of a run as plain JSON; None if the run was not diagnosed."""
    diagnosis = stored_diagnosis(home, run)
    if diagnosis is None:
        return None
    if diagnosis.grouping == "category":
        diagnosis_data = by_category(home, run, seed=diagnosis.seed)
    else:
        diagnosis_data = gather(home, run, tree=f"{diagnosis.tree}@{diagnosis.position}", seed=diagnosis.seed)
    notes = [*diagnosis.notes, *_tree_changes(home, run, diagnosis)]
    rows = dict.fromkeys(_reported_rows(diagnosis))
    words_run = latest_words(home, run.id)
    words = None if words_run is None else words_figures(home, words_run)
    if words_run is not None:
        notes += corrected_since(home, words_run, run.id)
    cited: dict[str, None] = {}
    if words is not None and words.diagnosis == stored_diagnosis_id(home, run):
        for report in words.reports:
            for sentence in report.sentences:
                cited.update(dict.fromkeys(place.row for place in sentence.places if place.row))
        rows.update(dict.fromkeys(list(cited)[:MOST_CITED]))
    elif words is not None:
        notes.append(
            f"The reports in words (run {words.run}) were written from other tables than these: write them anew with "
            f"dokimasia diagnose {run.id} --write --judge {words.judge}"
        )
    reported = ReportedDiagnosis(
        **dict(diagnosis.model_copy(update={"notes": tuple(notes)})),
        evidence=evidence_of(home, run, diagnosis_data, diagnosis, rows, limit=REPORTED_ATOMS),
        words=words,
        cited=tuple(cited),
    )
    return reported.model_dump(mode="json")


def _reported_rows(diagnosis: Diagnosis) -> list[str]:
    """Return the rows with evidence in a report: marked leaves and nodes, then each model's three lowest leaves."""
    marked_rows: list[str] = []
    low: list[str] = []
    for asset in diagnosis.assets:
        if asset.family not in ("nodes", "leaves"):
            continue
        for number, row in enumerate(asset.rows, start=1):
            if row.mark in ("weak", "strong"):
                marked_rows.append(f"{asset.id}:{number}")
            elif asset.family == "leaves" and number <= 3:
                low.append(f"{asset.id}:{number}")
    return [*marked_rows, *low][:MOST_MARKED]


def _tree_changes(home: Home, run: Run, diagnosis: Diagnosis) -> list[str]:
    newest = find_tree_of_run(home, run)
    if newest is None or newest.id == diagnosis.version:
        return []
    basis = f"{diagnosis.tree}@{diagnosis.position}" if diagnosis.tree else "the data's categories"
    return [
        f"This diagnosis was made on {basis}; the run's tree is now {newest.tree}@{newest.position}: its mapping is out of "
        f"date. Make it anew with dokimasia diagnose {run.id}"
    ]
