"""The tables of failure modes: how often each is seen, what each model fails by and the others do not, and examples of both."""

from collections.abc import Iterator, Sequence

from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow, Figure, Mark
from dokimasia.methods.diagnosis.cells import NOTHING, number, share_of, text
from dokimasia.methods.diagnosis.measured import LIMIT, DiagnosisMaterial, slugs_of
from dokimasia.methods.modes import NO_MODE, Coded, CodedAtom, Contrast, chosen, contrasts, of_answers
from dokimasia.report.figures import several

MARKS: dict[str, Mark] = {"more often": "worse", "less often": "better", "unclear": "unclear"}
KIND = AssetColumn(name="kind", kind="name")


def mode_tables(material: DiagnosisMaterial) -> Iterator[Asset]:
    """Yield the tables of an analysis of failures, where there is one: all modes, then each model's, and its examples."""
    coded = material.coded
    if coded is None:
        return
    models = [model for model in material.models if model in coded.models]
    names = [one.name for one in coded.modes]
    said = {(one.model, one.mode): one for one in contrasts(coded.atoms, names, models, seed=material.seed)}
    yield _overall(coded)
    slugs = slugs_of(material.models)
    for model in models:
        yield _of_model(coded, model, slugs[model], {mode: one for (name, mode), one in said.items() if name == model})
    picked = chosen(coded.atoms, names, models, seed=coded.plan.seed)
    for model in models:
        yield _examples(coded, model, slugs[model], [one for one in picked if one.answer.model == model])


def _overall(coded: Coded) -> Asset:
    failed = [one for one in coded.atoms if one.failed]
    met = [one for one in coded.atoms if not one.failed]
    known = sum(one.coding is not None for one in failed)
    rows: list[AssetRow] = []
    for name, kind, definition in [*((one.name, one.kind, one.definition) for one in coded.modes), (NO_MODE, "", "")]:
        mode = name if kind else None
        seen = [one for one in failed if one.coding is not None and one.mode == mode]
        right = of_answers((one for one in coded.atoms if one.verdict == "right"), mode)
        estimated = (right.share, right.low, right.high)
        cells = (
            text(name),
            text(kind),
            text(definition),
            number(len(seen)),
            _share(failed, mode),
            _share(met, mode),
            Figure(**dict(zip(("value", "low", "high"), estimated, strict=True))) if mode else NOTHING,
            number(len({one.answer.model for one in seen})),
        )
        samples = tuple(dict.fromkeys(one.answer.sample_id for one in seen))
        rows.append(AssetRow(key=name, cells=cells, n=known, held=len(failed), samples=samples))
    book = coded.book
    made = (
        f"made from {several(len(book.notes), 'note')} on failed atoms of other samples"
        + ("" if book.settled else " (new ones came until the end)")
        if book is not None
        else "taken from a file"
    )
    return Asset(
        id="modes",
        title="Failure modes",
        sentence=(
            f"{several(len(coded.modes), 'way')} of going wrong, {made}, and how often each is seen in failed atoms, in atoms "
            "that were met, and in answers whose final answer is right; coded without knowing scores or models."
        ),
        columns=(
            AssetColumn(name="mode", kind="name"),
            KIND,
            AssetColumn(name="definition", kind="name"),
            AssetColumn(name="failed atoms", kind="count"),
            AssetColumn(name="share of failed atoms", kind="share"),
            AssetColumn(name="share of met atoms", kind="share"),
            AssetColumn(name="share of right answers", kind="share"),
            AssetColumn(name="models", kind="count"),
        ),
        rows=tuple(rows),
        counts="failed atoms",
    )


def _of_model(coded: Coded, model: str, slug: str, said: dict[str, Contrast]) -> Asset:
    failed = [one for one in coded.atoms if one.failed]
    own = [one for one in failed if one.answer.model == model]
    others = [one for one in failed if one.answer.model != model]
    known = sum(one.coding is not None for one in own)
    rows: list[AssetRow] = []
    for one in coded.modes:
        seen = [atom for atom in own if atom.coding is not None and atom.mode == one.name]
        contrast = said.get(one.name)
        if not seen and (contrast is None or contrast.verdict in ("", "unclear")):
            continue
        compared = () if contrast is None else _compared(others, contrast)
        rows.append(
            AssetRow(
                key=one.name,
                cells=(text(one.name), text(one.kind), number(len(seen)), _share(own, one.name), *compared),
                n=known,
                held=len(own),
                mark="" if contrast is None else MARKS.get(contrast.verdict, ""),
                model=model,
                samples=tuple(dict.fromkeys(atom.answer.sample_id for atom in seen)),
            )
        )
    rows.sort(key=lambda row: (-int(row.cells[2].value or 0), row.key))
    apart = [str(row.cells[0].value) for row in rows if row.mark in ("better", "worse")]
    told = (
        ""
        if not said
        else f"; beyond chance it differs from the other models in {', '.join(apart)}"
        if apart
        else "; in none does it differ from the other models beyond chance"
    )
    columns = (
        AssetColumn(name="mode", kind="name"),
        KIND,
        AssetColumn(name="failed atoms", kind="count"),
        AssetColumn(name="share of failed atoms", kind="share"),
    )
    if said:
        columns += (
            AssetColumn(name="share in other models", kind="share"),
            AssetColumn(name="against the others", kind="difference"),
            AssetColumn(name="adjusted p", kind="p_value"),
            AssetColumn(name="verdict", kind="mark"),
        )
    return Asset(
        id=f"modes/{slug}",
        title=f"{model}: failure modes",
        sentence=(
            f"{several(len(rows), 'mode')} in {several(known, 'failed atom')} of {model}{told}. Differences are between shares "
            "of failed atoms on samples that several models failed on (exchange of models within images, at most "
            f"{LIMIT:.0%} of the marks expected to be false; p-values are adjusted over the modes of all models)."
        ),
        columns=columns,
        rows=tuple(rows),
        model=model,
        counts="failed atoms",
    )


def _examples(coded: Coded, model: str, slug: str, atoms: Sequence[CodedAtom]) -> Asset:
    rows: list[AssetRow] = []
    for one in atoms:
        criterion = coded.criterion(one)
        place = (one.answer.sample_id, one.answer.repeat, one.number)
        said = one.coding.quote if one.coding and one.coding.quote else ""
        cells = (
            text(one.mode or ""),
            text(one.answer.sample_id),
            text(criterion.question),
            text(criterion.ground_truth),
            text(said) if said else NOTHING,
        )
        key = "/".join(map(str, place))
        rows.append(AssetRow(key=key, cells=cells, n=1, held=1, model=model, samples=(one.answer.sample_id,)))
    return Asset(
        id=f"examples/{slug}",
        title=f"{model}: examples of its failure modes",
        sentence=f"Failed atoms of {model} in which a mode was seen, two of each at most; an omission has no words to quote.",
        columns=(
            AssetColumn(name="mode", kind="name"),
            AssetColumn(name="sample", kind="name"),
            AssetColumn(name="point", kind="name"),
            AssetColumn(name="truth", kind="name"),
            AssetColumn(name="words of the answer", kind="name"),
        ),
        rows=tuple(rows),
        model=model,
        counts="failed atoms",
    )


def _share(atoms: Sequence[CodedAtom], mode: str | None) -> Figure:
    known = [one for one in atoms if one.coding is not None]
    return share_of([one.mode == mode for one in known], [one.cluster for one in known])


def _compared(others: Sequence[CodedAtom], one: Contrast) -> tuple[Figure, ...]:
    gap = (
        NOTHING
        if one.difference is None
        else Figure(value=one.difference, low=one.low, high=one.high, no_interval=one.no_interval)
    )
    return (_share(others, one.mode), gap, number(one.adjusted), text(one.verdict))
