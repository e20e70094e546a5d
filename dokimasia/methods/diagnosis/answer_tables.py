"""Tables of single answers: right answers with wrong reasons, and failure modes with examples (ATOM, 3.3)."""

from collections.abc import Iterator, Mapping, Sequence

from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow, Figure, Mark
from dokimasia.domain.refinement import SOLVED
from dokimasia.domain.wording import percentage
from dokimasia.methods.diagnosis.cells import (
    MODEL,
    NOTHING,
    STEPS,
    cells_of,
    count_column,
    distinct_samples,
    name_column,
    score_column,
    share_column,
    share_of,
)
from dokimasia.methods.diagnosis.evidence_data import LIMIT, DiagnosedAnswer, DiagnosisMaterial, slugs_of
from dokimasia.methods.modes import NO_MODE, Coded, CodedAtom, Contrast, chosen, contrasts, of_answers
from dokimasia.report.figures import several

WRONG_REASON, RIGHT_REASONS = "right answer, wrong reason", "wrong answer, right reasons"
CONTRAST_MARKS: dict[str, Mark] = {"more often": "worse", "less often": "better", "unclear": "unclear"}
MODE = name_column("mode")
KIND = name_column("kind")
FAILED_ATOMS = count_column("failed atoms")
SAMPLES = count_column("samples")
FAILED_SHARE = share_column("share of failed atoms")


def reasons(material: DiagnosisMaterial) -> Asset:
    """Return how often a right final answer has a wrong reason, and how often a wrong one has only right reasons.

    Reasons are the criteria that an answer addresses, except that of the final answer; a reason with a score of 3 or
    lower is wrong. Answers without reasons and undecided answers are counted, but belong to neither share.
    """
    rows: list[AssetRow] = []
    silent = decided = undecided = 0
    for model in material.models:
        answers = material.answers_of(model)
        scored_answers = [answer for answer in answers if answer.score is not None]
        right = [answer for answer in scored_answers if answer.final == "right" and answer.reasons]
        wrong = [answer for answer in scored_answers if answer.final == "wrong" and answer.reasons]
        without_reasons = sum(answer.final in ("right", "wrong") and not answer.reasons for answer in scored_answers)
        decided += len(right) + len(wrong) + without_reasons
        silent += without_reasons
        undecided += sum(answer.final == "undecided" for answer in scored_answers)
        rows.append(
            AssetRow(
                key=model,
                cells=cells_of(
                    model,
                    len(right),
                    share_of([wrong_reasons(answer) > 0 for answer in right], [answer.cluster for answer in right]),
                    len(wrong),
                    share_of([wrong_reasons(answer) == 0 for answer in wrong], [answer.cluster for answer in wrong]),
                    without_reasons,
                ),
                n=len(right) + len(wrong),
                held=len(answers),
                model=model,
                samples=distinct_samples(answer for answer in answers if disagreement_of(answer)),
            )
        )
    return Asset(
        id="reasons",
        title="Right answer, wrong reason",
        sentence=_reasons_sentence(decided, silent, undecided, silence_known=material.silence_known),
        columns=(
            MODEL,
            count_column("right, with reasons"),
            share_column("of these, wrong reason", better="lower"),
            count_column("wrong, with reasons"),
            share_column("of these, right reasons"),
            count_column("no reasons stated"),
        ),
        rows=tuple(rows),
        counts="samples",
    )


def _reasons_sentence(decided: int, silent: int, undecided: int, *, silence_known: bool) -> str:
    remainder = f" {several(undecided, 'final answer')} more: undecided." if undecided else ""
    if not decided:
        return "Of no final answer it was decided whether it is right, so nothing is said of reasons." + remainder
    if silent == decided:
        decided_answers = several(decided, "answer")
        return (
            f"Of {decided_answers} that are right or wrong none states a reason: nothing is said of reasons.{remainder}"
        )
    if not silence_known:
        remainder += " The judge was not asked what an answer leaves unsaid: silence counts as wrong here."
    return (
        f"Of {several(decided, 'answer')} that are right or wrong {decided - silent} state reasons (criteria that they speak "
        f"to, the final answer left out): how many right ones get a reason wrong (score below {SOLVED}), and how many wrong "
        f"ones none. Differences between models are not tested.{remainder}"
    )


def answer_tables(material: DiagnosisMaterial) -> list[Asset]:
    """Return, for each model, right answers with wrong reasons and the opposite, most wrong reasons first."""
    tables: list[Asset] = []
    for model, slug in slugs_of(material.models).items():
        answers = [answer for answer in material.answers_of(model) if disagreement_of(answer)]
        answers.sort(
            key=lambda answer: (
                disagreement_of(answer) != WRONG_REASON,
                -wrong_reasons(answer),
                answer.sample_id,
                answer.repeat,
            )
        )
        lucky = sum(disagreement_of(answer) == WRONG_REASON for answer in answers)
        sentence = f"No answer of {model} and its reasons part."
        if answers:
            sentence = (
                f"{lucky} right final answers of {model} with a wrong reason, and {len(answers) - lucky} wrong ones with "
                "right reasons alone."
            )
        tables.append(
            Asset(
                id=f"answers/{slug}",
                title=f"{model}: answer and reasons part",
                sentence=sentence,
                columns=(
                    name_column("sample"),
                    count_column("repeat"),
                    name_column("what"),
                    count_column("wrong reasons"),
                    count_column("reasons stated"),
                    score_column("score", STEPS),
                ),
                rows=tuple(map(_answer_row, answers)),
                model=model,
            )
        )
    return tables


def _answer_row(answer: DiagnosedAnswer) -> AssetRow:
    return AssetRow(
        key=f"{answer.sample_id}/{answer.repeat}",
        cells=cells_of(
            answer.sample_id,
            answer.repeat + 1,
            disagreement_of(answer),
            wrong_reasons(answer),
            len(answer.reasons),
            answer.score,
        ),
        n=len(answer.reasons),
        held=len(answer.reasons),
        model=answer.model,
        samples=(answer.sample_id,),
    )


def wrong_reasons(answer: DiagnosedAnswer) -> int:
    """Return the number of wrong reasons of an answer."""
    return sum(score < SOLVED for score in answer.reasons)


def disagreement_of(answer: DiagnosedAnswer) -> str:
    """Return how an answer and its reasons disagree; empty if they agree or the verdict is unknown."""
    if answer.score is None or not answer.reasons:
        return ""
    if answer.final == "right" and wrong_reasons(answer):
        return WRONG_REASON
    if answer.final == "wrong" and not wrong_reasons(answer):
        return RIGHT_REASONS
    return ""


def mode_tables(material: DiagnosisMaterial) -> Iterator[Asset]:
    """Yield the tables of failure modes, if they were analysed: all modes, then each model's modes and examples."""
    analysis = material.coded
    if analysis is None:
        return
    models = [model for model in material.models if model in analysis.models]
    names = [mode.name for mode in analysis.modes]
    by_model: dict[str, dict[str, Contrast]] = {}
    for contrast in contrasts(analysis.atoms, names, models, seed=material.seed):
        by_model.setdefault(contrast.model, {})[contrast.mode] = contrast
    yield _all_modes(analysis)
    slugs = slugs_of(material.models)
    for model in models:
        yield _modes_of_model(analysis, model, slugs[model], by_model.get(model, {}))
    examples = chosen(analysis.atoms, names, models, seed=analysis.plan.seed)
    for model in models:
        yield _mode_examples(analysis, model, slugs[model], [atom for atom in examples if atom.answer.model == model])


def _all_modes(coded: Coded) -> Asset:
    failed_atoms = [atom for atom in coded.atoms if atom.failed]
    met_atoms = [atom for atom in coded.atoms if not atom.failed]
    coded_count = sum(atom.coding is not None for atom in failed_atoms)
    rows: list[AssetRow] = []
    for mode in (*coded.modes, None):
        name = None if mode is None else mode.name
        atoms = [atom for atom in failed_atoms if atom.coding is not None and atom.mode == name]
        right = NOTHING
        if mode is not None:
            share = of_answers((atom for atom in coded.atoms if atom.verdict == "right"), name)
            right = Figure(value=share.share, low=share.low, high=share.high)
        cells = cells_of(
            NO_MODE if mode is None else mode.name,
            "" if mode is None else mode.kind,
            "" if mode is None else mode.definition,
            len(atoms),
            len(_atom_samples(atoms)),
            _share(failed_atoms, name),
            _share(met_atoms, name),
            right,
            len({atom.answer.model for atom in atoms}),
        )
        rows.append(
            AssetRow(
                key=name or NO_MODE, cells=cells, n=coded_count, held=len(failed_atoms), samples=_atom_samples(atoms)
            )
        )
    origin = "taken from a file"
    if coded.book is not None:
        origin = f"made from {several(len(coded.book.notes), 'note')} on failed atoms of other samples"
        if not coded.book.settled:
            origin += " (new ones came until the end)"
    return Asset(
        id="modes",
        title="Failure modes",
        sentence=(
            f"{several(len(coded.modes), 'way')} of going wrong, {origin}, and how often each is seen in failed atoms, in atoms "
            "that were met, and in answers whose final answer is right; coded without knowing scores or models."
        ),
        columns=(
            MODE,
            KIND,
            name_column("definition"),
            FAILED_ATOMS,
            SAMPLES,
            FAILED_SHARE,
            share_column("share of met atoms"),
            share_column("share of right answers"),
            count_column("models"),
        ),
        rows=tuple(rows),
        counts="failed atoms",
    )


def _modes_of_model(coded: Coded, model: str, slug: str, contrasts_by_mode: Mapping[str, Contrast]) -> Asset:
    failed_atoms = [atom for atom in coded.atoms if atom.failed]
    model_atoms = [atom for atom in failed_atoms if atom.answer.model == model]
    other_atoms = [atom for atom in failed_atoms if atom.answer.model != model]
    coded_count = sum(atom.coding is not None for atom in model_atoms)
    rows: list[AssetRow] = []
    for mode in coded.modes:
        atoms = [atom for atom in model_atoms if atom.coding is not None and atom.mode == mode.name]
        contrast = contrasts_by_mode.get(mode.name)
        if not atoms and (contrast is None or contrast.verdict in ("", "unclear")):
            continue
        samples = _atom_samples(atoms)
        cells = cells_of(mode.name, mode.kind, len(atoms), len(samples), _share(model_atoms, mode.name))
        mark: Mark = ""
        if contrast is not None:
            cells += _contrast_cells(other_atoms, contrast)
            mark = CONTRAST_MARKS.get(contrast.verdict, "")
        rows.append(
            AssetRow(
                key=mode.name,
                cells=cells,
                n=coded_count,
                held=len(model_atoms),
                mark=mark,
                model=model,
                samples=samples,
            )
        )
    rows.sort(key=lambda row: (-int(row.cells[2].value or 0), row.key))
    columns = [MODE, KIND, FAILED_ATOMS, SAMPLES, FAILED_SHARE]
    comparison = ""
    if contrasts_by_mode:
        columns += [
            share_column("share in other models"),
            AssetColumn(name="against the others", kind="difference"),
            AssetColumn(name="adjusted p", kind="p_value"),
            AssetColumn(name="verdict", kind="mark"),
        ]
        comparison = "; in none does it differ from the other models beyond chance"
        different = [str(row.cells[0].value) for row in rows if row.mark in ("better", "worse")]
        if different:
            comparison = f"; beyond chance it differs from the other models in {', '.join(different)}"
    return Asset(
        id=f"modes/{slug}",
        title=f"{model}: failure modes",
        sentence=(
            f"{several(len(rows), 'mode')} in {several(coded_count, 'failed atom')} of {model}{comparison}. Differences are "
            "between shares of failed atoms on samples that several models failed on (exchange of models within images, at most "
            f"{percentage(LIMIT)} of the marks expected to be false; p-values are adjusted over the modes of all models)."
        ),
        columns=tuple(columns),
        rows=tuple(rows),
        model=model,
        counts="failed atoms",
    )


def _contrast_cells(other_atoms: Sequence[CodedAtom], contrast: Contrast) -> tuple[Figure, ...]:
    gap = NOTHING
    if contrast.difference is not None:
        gap = Figure(value=contrast.difference, low=contrast.low, high=contrast.high, no_interval=contrast.no_interval)
    return cells_of(_share(other_atoms, contrast.mode), gap, contrast.adjusted, contrast.verdict)


def _mode_examples(coded: Coded, model: str, slug: str, atoms: Sequence[CodedAtom]) -> Asset:
    rows: list[AssetRow] = []
    for atom in atoms:
        criterion = coded.criterion(atom)
        quote = atom.coding.quote if atom.coding else ""
        cells = cells_of(
            atom.mode or "",
            atom.answer.sample_id,
            criterion.question,
            criterion.ground_truth,
            quote or None,
        )
        key = f"{atom.answer.sample_id}/{atom.answer.repeat}/{atom.number}"
        rows.append(AssetRow(key=key, cells=cells, n=1, held=1, model=model, samples=(atom.answer.sample_id,)))
    return Asset(
        id=f"examples/{slug}",
        title=f"{model}: examples of its failure modes",
        sentence=f"Failed atoms of {model} in which a mode was seen, two of each at most; an omission has no words to quote.",
        columns=(
            MODE,
            name_column("sample"),
            name_column("point"),
            name_column("truth"),
            name_column("words of the answer"),
        ),
        rows=tuple(rows),
        model=model,
        counts="failed atoms",
    )


def _share(atoms: Sequence[CodedAtom], mode: str | None) -> Figure:
    coded_atoms = [atom for atom in atoms if atom.coding is not None]
    return share_of([atom.mode == mode for atom in coded_atoms], [atom.cluster for atom in coded_atoms])


def _atom_samples(atoms: Sequence[CodedAtom]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(atom.answer.sample_id for atom in atoms))
