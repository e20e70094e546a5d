"""The figures of rubric sets: numbers, kinds, evidence, and caught errors (PerceptionRubrics, table 1, A.2).

The power of a set is measured on inserted errors and on responses that were not used to choose its rubrics.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Annotated, Any, NamedTuple

from pydantic import Field, WithJsonSchema

from dokimasia.domain.call import model_names
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import FailureKind
from dokimasia.domain.options import Protocol
from dokimasia.domain.rubric import WEAK_POOL, Rubric, RubricSet, Stream, Tried
from dokimasia.methods.rubrics.files import sets_of_run
from dokimasia.methods.rubrics.request import RubricPlan
from dokimasia.prompts.dimensions import dimensions
from dokimasia.report.fields import Count, Counts, Failures, Fraction, LeftOpen, Share, Used, as_json
from dokimasia.runs.figure_models import DataFigures, Judge
from dokimasia.runs.figures import calls_and_costs, counts_by_name, heading, ordered_rows
from dokimasia.runs.measures import failure_fields, mean, share_of_hits
from dokimasia.runs.reading.exporting import ColumnType
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_value
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, clusters_by_sample

STEP = 100
"""Width of a bin of the captions' histogram, in words."""

Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
"""A number that stays an integer if it is one."""

COLUMNS: dict[str, ColumnType] = {
    "domain": "text",
    "caption": "text",
    "verified": "truth",
    "checked": "truth",
    "must_right": "texts",
    "easy_wrong": "texts",
    "planted": "integer",
    "caught": "integer",
    "caught_low": "number",
    "caught_high": "number",
    "rubrics_tried": "integer",
    "rubrics_failed": "integer",
}
"""Columns of a sample's set in an export: numbers of `planted` and `caught` errors with the interval of the share, and
of rubrics tried on, and failed by, texts that were not used to choose them."""


class PerSample(Value):
    """Mean numbers of rubrics per sample; null without a set."""

    rubrics: float | None
    must_right: float | None
    easy_wrong: float | None


class Distribution(Value):
    """The number of samples by number of rubrics."""

    rubrics: Counts
    must_right: Counts
    easy_wrong: Counts


class CaptionWords(Value):
    """The lengths of captions in words; null without a caption."""

    mean: float | None
    median: Number | None
    longest: Count | None
    by_length: Counts = Field(description="captions by the words at which their step of a hundred begins")


class DroppedRubrics(Value):
    """Counts of dropped rubrics, by who dropped them."""

    rules: Count = Field(description="by rules")
    trial: Count = Field(description="by the trial, since they tested nothing; most are replaced")
    panel: Count = Field(description="by the panel's votes")


class PowerFigures(Value):
    """The errors that the sets catch, measured on texts not used to choose them; intervals clustered by image."""

    caught: Share = Field(description="of the errors planted in golden captions, those that a rubric of the set fails")
    caught_by_gate: Share = Field(description="of the same errors, those that a must-right rubric fails")
    caught_by_several: Share = Field(
        description="of the errors caught, those that two rubrics or more fail: these rubrics are not independent"
    )
    dimensions: dict[str, Share] = Field(description="caught, by the dimension of the error")
    must_right: Share = Field(
        description="of the must-right rubrics, those that a response or a planted error of these texts fails"
    )
    easy_wrong: Share = Field(
        description="of the easy-wrong rubrics, those that a planted error fails; they are mined from all responses"
    )
    golden: Share = Field(description="of all rubrics, those that the golden caption passes")
    responses: Count = Field(description="responses that rubrics were measured on")
    failures: Failures
    left_open: LeftOpen


class RubricsFigures(Used, DataFigures):
    """The figures of a run that makes gated rubrics."""

    samples: Count = Field(description="captions to make rubrics from")
    protocol: Protocol = Field(
        description="default: rubrics are tried before they are accepted; published: they are not"
    )
    judge: Judge
    pool: tuple[str, ...] = Field(description="models whose responses easy-wrong rubrics are mined from")
    panel: tuple[str, ...] = Field(description="models that vote on rubrics")
    request: str = Field(description="what the pool's descriptions were asked for")
    failures: Failures
    left_open: LeftOpen
    sets: Count = Field(description="sets made, one a sample")
    images: Count = Field(description="different images of the samples that have a set")
    rubrics: Count
    must_right: Count = Field(description="must-right rubrics")
    easy_wrong: Count = Field(description="easy-wrong rubrics")
    mined: Count = Field(description="easy-wrong rubrics on errors that responses of the pool make")
    per_sample: PerSample
    distribution: Distribution
    caption_words: CaptionWords
    domains: Counts = Field(description="sets by domain")
    kinds: Counts = Field(description="rubrics by kind")
    negative: Count = Field(description="rubrics that forbid")
    power: PowerFigures
    weak: Count = Field(
        description="sets whose easy-wrong rubrics were mined from fewer than 4 responses, and are weak"
    )
    replaced: Count = Field(description="rubrics that stand in the place of one that tested nothing")
    repaired: Count = Field(description="rubrics that were sent back and written anew")
    evidence: Fraction | None = Field(
        description="of the rubrics that quote evidence those whose quotation stands in the caption word for word, 0 to 1; "
        "null without any"
    )
    support: float | None = Field(
        ge=0, description="mean number of pool members that make an easy-wrong error; null without any"
    )
    dropped: DroppedRubrics
    unheard: Count = Field(description="times that a member of pool or panel had nothing to say")
    verified: Count = Field(description="sets whose caption a person stands behind")
    checked: Count = Field(description="sets whose rubrics a person decided on")


class SetPower(Value):
    """The power of a set: the share of inserted errors it catches, and of its rubrics that some text fails."""

    caught: Share
    rubrics: Share


class RubricItem(Value):
    """A sample's set with its dropped rubrics, or its failure."""

    sample: str
    failure: FailureKind | None
    reason: str | None
    set: RubricSet | None
    power: SetPower | None


def figures_of_run(home: Home, run: Run) -> RubricsFigures:
    """Return the figures of a run that makes rubrics; the same stored rows give the same bytes."""
    plan = run.plan_as(RubricPlan)
    rows = results(home, run.id)
    clusters = clusters_by_sample(home, run.id)
    sets = sets_of_run(home, run) if has_sets(rows) else []
    return RubricsFigures(
        **heading(run, plan),
        **calls_and_costs(home, rows),
        samples=len(clusters),
        open_items=len(clusters) - len(rows),
        protocol=plan.protocol,
        pool=model_names(plan.pool),
        panel=model_names(plan.panel),
        request=plan.request,
        **failure_fields(row.failure for row in rows),
        power=power_figures(sets, clusters),
        **set_figures(sets),
    )


def has_sets(rows: Sequence[ResultRow]) -> bool:
    """Return whether a run made any set."""
    return any(row.outcome == "made" for row in rows)


def set_figures(sets: Sequence[RubricSet]) -> dict[str, Any]:  # Fields of RubricsFigures.
    """Return the fields of `RubricsFigures` that depend on the sets, except their power."""
    rubrics: list[Rubric] = []
    captioned: list[tuple[Rubric, str]] = []
    droppers: list[str] = []
    for rubric_set in sets:
        rubrics += rubric_set.rubrics
        captioned += [(rubric, rubric_set.caption) for rubric in rubric_set.rubrics if rubric.evidence]
        droppers += (rubric.by for rubric in rubric_set.dropped)
    streams = {
        "rubrics": [len(rubric_set.rubrics) for rubric_set in sets],
        "must_right": [len(rubric_set.must_right) for rubric_set in sets],
        "easy_wrong": [len(rubric_set.easy_wrong) for rubric_set in sets],
    }
    return {
        "sets": len(sets),
        "images": len({image for rubric_set in sets for image in rubric_set.images}),
        **{name: sum(counts) for name, counts in streams.items()},
        "per_sample": PerSample(**{name: mean(counts) for name, counts in streams.items()}),
        "distribution": Distribution(**{name: counts_by_name(counts) for name, counts in streams.items()}),
        "caption_words": _caption_words([rubric_set.caption for rubric_set in sets]),
        "domains": counts_by_name(rubric_set.domain or "unknown" for rubric_set in sets),
        "kinds": counts_by_name(rubric.kind or "unknown" for rubric in rubrics),
        "negative": sum(rubric.polarity == "negative" for rubric in rubrics),
        "repaired": sum(rubric.repaired for rubric in rubrics),
        "evidence": mean([float(stands_in(rubric, caption)) for rubric, caption in captioned if caption]),
        "mined": sum(bool(rubric.support) for rubric in rubrics),
        "support": mean([len(rubric.support) for rubric in rubrics if rubric.support]),
        "dropped": DroppedRubrics(
            rules=droppers.count("rules"), trial=droppers.count("trial"), panel=droppers.count("panel")
        ),
        "replaced": sum(rubric.replaced for rubric in rubrics),
        "weak": sum(len(rubric_set.pool) < WEAK_POOL for rubric_set in sets),
        "unheard": sum(len(rubric_set.unheard) for rubric_set in sets),
        "verified": sum(rubric_set.verified for rubric_set in sets),
        "checked": sum(rubric_set.checked for rubric_set in sets),
    }


def _caption_words(captions: Sequence[str]) -> CaptionWords:
    lengths = [len(caption.split()) for caption in captions if caption]
    if not lengths:
        return CaptionWords(mean=None, median=None, longest=None, by_length={})
    by_length: dict[str, int] = {}
    for start in range(min(lengths) // STEP * STEP, max(lengths) + 1, STEP):
        by_length[str(start)] = sum(start <= length < start + STEP for length in lengths)
    return CaptionWords(mean=mean(lengths), median=median(lengths), longest=max(lengths), by_length=by_length)


def stands_in(rubric: Rubric, caption: str) -> bool:
    """Return whether a rubric's evidence is a quote from the caption, ignoring spaces and case."""
    return " ".join(rubric.evidence.split()).casefold() in " ".join(caption.split()).casefold()


class PlantedError(NamedTuple):
    """An inserted error: its dimension, and whether a rubric, a gate rubric, or several rubrics caught it.

    None where that was not judged.
    """

    dimension: str
    caught: bool | None
    caught_by_gate: bool | None
    caught_by_several: bool | None


class MeasuredSet(NamedTuple):
    """The measurements of a set.

    `failed` says, by stream, whether any text failed each tried rubric; `golden`, whether the golden caption passes
    each rubric.
    """

    errors: list[PlantedError]
    failed: dict[Stream, list[bool]]
    golden: list[bool]


def measured_set(rubric_set: RubricSet) -> MeasuredSet:
    """Return the measurements of a set; a rubric catches an error if only the caption with the error fails it."""
    golden = next((trial.passes for trial in rubric_set.tried if trial.what == "golden" and trial.passes), ())
    gate = len(rubric_set.must_right)
    errors: list[PlantedError] = []
    failed_by_text: list[list[bool | None]] = []
    for trial in rubric_set.tried:
        if trial.what == "planted" and trial.changes:
            catches = _caught_by(golden, trial)
            by_gate = _any(catches[:gate]) if catches else None
            errors.append(PlantedError(trial.name, _any(catches), by_gate, _at_least_two(catches)))
            failed_by_text.append(catches)
        elif trial.what == "response":
            failed_by_text.append([None if passed is None else not passed for passed in trial.passes])
    outcomes: dict[Stream, list[bool]] = {"must_right": [], "easy_wrong": []}
    for position, rubric in enumerate(rubric_set.rubrics):
        verdicts = [of_text[position] for of_text in failed_by_text if of_text]
        verdict = _any([verdict for verdict in verdicts if verdict is not None])
        if verdict is not None:
            outcomes[rubric.stream].append(verdict)
    return MeasuredSet(errors, outcomes, [passed for passed in golden if passed is not None])


def _caught_by(golden: Sequence[bool | None], tried: Tried) -> list[bool | None]:
    """Return, for each rubric, whether it catches the error (None if untried); empty if nothing was judged."""
    if not (golden and tried.passes):
        return []
    catches: list[bool | None] = []
    for before, after in zip(golden, tried.passes, strict=True):
        catches.append(None if before is None or after is None else before and not after)
    return catches


def _any(hits: Sequence[bool | None]) -> bool | None:
    """Return whether any hits; None if none does and some are unknown, or if there are none."""
    if any(hits):
        return True
    if hits and None not in hits:
        return False
    return None


def _at_least_two(hits: Sequence[bool | None]) -> bool | None:
    """Return whether two or more hit; None if the unknown ones could make it two."""
    sure = hits.count(True)
    if sure > 1:
        return True
    if sure + hits.count(None) > 1:
        return None
    return False


def power_figures(sets: Sequence[RubricSet], clusters: Mapping[str, str]) -> PowerFigures:
    """Return the joint power of all sets; intervals are clustered by image."""
    error_hits = _Hits()
    caught_by_gate = _Hits()
    caught_by_several = _Hits()
    by_dimension: dict[str, _Hits] = {}
    hits_by_stream: dict[Stream, _Hits] = {"must_right": _Hits(), "easy_wrong": _Hits()}
    golden = _Hits()
    failures: list[FailureKind | None] = []
    responses = 0
    for rubric_set in sets:
        cluster = clusters[rubric_set.sample_id]
        measured = measured_set(rubric_set)
        for error in measured.errors:
            error_hits.add(cluster, error.caught)
            caught_by_gate.add(cluster, error.caught_by_gate)
            if error.caught:
                caught_by_several.add(cluster, error.caught_by_several)
            by_dimension.setdefault(error.dimension, _Hits()).add(cluster, error.caught)
        for stream, hits in measured.failed.items():
            hits_by_stream[stream].add(cluster, *hits)
        golden.add(cluster, *measured.golden)
        for trial in rubric_set.tried:
            responses += trial.what == "response" and bool(trial.passes)
            failures.append(trial.failure)
    return PowerFigures(
        caught=error_hits.share,
        caught_by_gate=caught_by_gate.share,
        caught_by_several=caught_by_several.share,
        dimensions={name: by_dimension[name].share for name in dimensions() if name in by_dimension},
        must_right=hits_by_stream["must_right"].share,
        easy_wrong=hits_by_stream["easy_wrong"].share,
        golden=golden.share,
        responses=responses,
        **failure_fields(failures),
    )


def set_power(rubric_set: RubricSet) -> SetPower:
    """Return the power of one set; each error and each rubric is its own cluster."""
    measured = measured_set(rubric_set)
    error_hits, rubric_hits = _Hits(), _Hits()
    for number, error in enumerate(measured.errors):
        error_hits.add(str(number), error.caught)
    for number, hit in enumerate((*measured.failed["must_right"], *measured.failed["easy_wrong"])):
        rubric_hits.add(str(number), hit)
    return SetPower(caught=error_hits.share, rubrics=rubric_hits.share)


class _Hits:
    """Trials with their clusters, counted as hits, misses and unknown ones."""

    def __init__(self) -> None:
        self._hits: list[bool] = []
        self._clusters: list[str] = []
        self._unknown = 0

    def add(self, cluster: str, *hits: bool | None) -> None:
        """Add trials of a cluster."""
        for hit in hits:
            if hit is None:
                self._unknown += 1
            else:
                self._hits.append(hit)
                self._clusters.append(cluster)

    @property
    def share(self) -> Share:
        """The share of trials that hit."""
        return share_of_hits(self._hits, self._clusters, unknown=self._unknown)


def rubric_items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, object]]:
    """Yield each sample's set with its dropped rubrics, or its failure, as JSON; with `sample`, only that one."""
    for row in ordered_rows(home, run, sample):
        rubric_set = power = None
        if row.value_ids:
            rubric_set = find_value(home, row.value_ids[0]).get("value")
            power = as_json(set_power(RubricSet.model_validate(rubric_set)))
        yield {"sample": row.sample_id, "failure": row.failure, "reason": row.reason, "set": rubric_set, "power": power}


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, object]]:
    """Return the values of the export's columns for each sample's set, with people's decisions applied."""
    sets: dict[str, RubricSet] = {}
    if has_sets(rows):
        sets = {rubric_set.sample_id: rubric_set for rubric_set in sets_of_run(home, run)}
    exports: list[dict[str, object]] = []
    for row in rows:
        export: dict[str, object] = {**dict.fromkeys(COLUMNS)}
        rubric_set = sets.get(row.sample_id)
        if rubric_set is not None:
            power = set_power(rubric_set)
            export |= {
                "domain": rubric_set.domain,
                "caption": rubric_set.caption,
                "verified": rubric_set.verified,
                "checked": rubric_set.checked,
                "must_right": [rubric.statement for rubric in rubric_set.must_right],
                "easy_wrong": [rubric.statement for rubric in rubric_set.easy_wrong],
                "planted": power.caught.n,
                "caught": power.caught.k,
                "caught_low": power.caught.low,
                "caught_high": power.caught.high,
                "rubrics_tried": power.rubrics.n,
                "rubrics_failed": power.rubrics.k,
            }
        exports.append(export)
    return exports
