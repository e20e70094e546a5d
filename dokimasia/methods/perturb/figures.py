"""The figures of a perturbation run: models, computation, items, columns of an export, and files of perturbations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

import orjson
from pydantic import Field

from dokimasia.agents.perturbation import error_dimensions
from dokimasia.algorithms.text.word_difference import word_difference
from dokimasia.domain.blindspots import NEUTRAL, Perturbed, Task
from dokimasia.domain.call import model_name
from dokimasia.domain.decision import Standing
from dokimasia.domain.identity import Value, value_id
from dokimasia.domain.judgement import FailureKind
from dokimasia.domain.perturbation import ChangeCheck, EditCheck, EditRecord, GoldAnswer, GoldImage, NotApplicable
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.methods.perturb.request import PerturbPlan
from dokimasia.parsing.blindspots.perturbed import reason_kind
from dokimasia.people.checks import LabelFigures, checked_texts, label_figures, labelled, labels_of
from dokimasia.prompts.dimensions import error_groups
from dokimasia.report.fields import Count, Coverage, Display, Failures, LeftOpen, Share, Used
from dokimasia.runs.figure_models import DataFigures, Judge
from dokimasia.runs.figures import calls_and_costs, heading, ordered_rows
from dokimasia.runs.measures import failure_fields, ratio, share_of_hits
from dokimasia.runs.reading.exporting import ColumnType, image_files
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.reviews import made_values
from dokimasia.storage.runs import Run, clusters_by_sample, samples_by_id

GOLD = "gold/"
"""Prefix of the items that write gold answers; all other items belong to a dimension."""

COLUMNS: dict[str, ColumnType] = {
    "task": "text",
    "dimension": "text",
    "group": "text",
    "gold": "text",
    "perturbed": "text",
    "gold_image": "text",
    "perturbed_image": "text",
    "description": "text",
    "rationale": "text",
    "instruction": "text",
    "not_applicable": "text",
    "checked_as": "text",
    "doubts": "text",
    "label": "text",
}
"""Columns of a row in an export: the item with both answers or its failure, the checker's result, people's label."""


class PerturbedItem(NamedTuple):
    """A perturbed item: its id in the run, the perturbation, the checker's result, and the cluster.

    `hint` puts the checker's doubts into words; it is empty without doubts or a checker.
    """

    id: str
    item: Perturbed
    check: ChangeCheck | None
    record: EditRecord | None
    cluster: str

    @property
    def edit_check(self) -> EditCheck | None:
        """The checker's result on an edited image."""
        return self.record and self.record.check

    @property
    def doubts(self) -> tuple[str, ...]:
        """The checker's doubts."""
        if self.edit_check is not None:
            if self.edit_check.alone:
                return ()
            return ("also",)
        if self.check is None:
            return ()
        return self.check.doubts(self.item.dimension, neutral=self.item.neutral)

    @property
    def checked(self) -> bool:
        """Whether a checker examined the item."""
        return self.check is not None or self.edit_check is not None

    @property
    def hint(self) -> str:
        """The checker's doubts in words."""
        if not self.doubts:
            return ""
        if self.check is None:
            if self.edit_check is None:
                return ""
            return self.edit_check.seen
        findings = {
            "kind": f"takes it for {self.check.kind or 'no change of these kinds'}",
            "also": f"finds it worse in {', '.join(self.check.also)} beside",
            "worse": f"{'finds' if self.item.neutral else 'does not find'} the changed answer worse",
        }
        return f"The checker {'; '.join(findings[doubt] for doubt in self.doubts)}: {self.check.why}"


class RunValues(NamedTuple):
    """The values of a run's rows: perturbations and reasons for missing ones by item, and gold answers by sample."""

    perturbed: Mapping[str, PerturbedItem]
    not_applicable: Mapping[str, NotApplicable]
    golds: Mapping[str, GoldAnswer | GoldImage]


def item_of(sample_id: str, dimension: str) -> str:
    """Return the name of a sample's item in a dimension."""
    return f"perturb/{sample_id}/{dimension}"


def gold_item(sample_id: str) -> str:
    """Return the name of the item that writes a sample's gold answer."""
    return f"{GOLD}{sample_id}"


def values_of(home: Home, run: Run) -> RunValues:
    """Return the values of a run's rows, in the order of its samples."""
    checks = {check.of: check for _, check in made_values(home, run.id, ChangeCheck)}
    records = {record.perturbed: record for _, record in made_values(home, run.id, EditRecord)}
    perturbed: dict[str, PerturbedItem] = {}
    for source, item in made_values(home, run.id, Perturbed):
        name = item_of(item.sample_id, item.dimension)
        perturbed[name] = PerturbedItem(name, item, checks.get(source.id), records.get(source.id), source.cluster)
    not_applicable: dict[str, NotApplicable] = {}
    for source, absence in made_values(home, run.id, NotApplicable):
        not_applicable[item_of(source.sample_id, absence.dimension)] = absence
    golds: dict[str, GoldAnswer | GoldImage] = {}
    golds |= {source.sample_id: gold for source, gold in made_values(home, run.id, GoldAnswer)}
    golds |= {source.sample_id: gold for source, gold in made_values(home, run.id, GoldImage)}
    return RunValues(perturbed, not_applicable, golds)


def perturbed_items(home: Home, run: Run) -> list[PerturbedItem]:
    """Return a run's perturbed items, in the order of its samples."""
    return list(values_of(home, run).perturbed.values())


def golds_of(home: Home, run: Run, plan: PerturbPlan) -> dict[str, str]:
    """Return the ids of the gold answers to perturb, by sample: those found right, or the data's if unchecked."""
    golds = {} if plan.gold_checked else dict(plan.golds)
    golds_with_checks = made_values(home, run.id, GoldAnswer)
    return golds | {source.sample_id: source.id for source, gold in golds_with_checks if gold.right}


def gold_images_of(home: Home, run: Run, plan: PerturbPlan) -> tuple[dict[str, str], set[str]]:
    """Return the ids of gold images found right, by sample, and the samples without a usable gold image."""
    gold_ids: dict[str, str] = {}
    unusable = {*plan.to_write, *plan.to_check}
    for source, gold in made_values(home, run.id, GoldImage):
        if gold.right:
            gold_ids[source.sample_id] = source.id
            unusable.discard(source.sample_id)
        else:
            unusable.add(source.sample_id)
    return gold_ids, unusable


def edited_items(home: Home, run: Run) -> dict[str, Perturbed]:
    """Return the items of a file of edited images, by id."""
    ids = run.texts("brought")
    return find_values(home, Perturbed, list(ids))


class Doubts(Value):
    """Counts of changes that a checker doubts, by kind of doubt; a change may be counted under several."""

    kind: Count = Field(description="taken for a change of another dimension than it was meant as")
    also: Count = Field(description="something else is worse beside, or was changed in the image beside")
    worse: Count = Field(description="not worse, though meant as an error; or worse, though meant as harmless")


class Perturbing(Value):
    """The outcomes of requested perturbations; intervals clustered by image."""

    asked: Annotated[Count, Display("asked", "samples that the perturber was asked about")] = Field(
        description="samples that the perturber was asked about, or is still to be asked about"
    )
    made: Annotated[Count, Display("made", "items that were made")] = Field(description="items that were made")
    not_applicable: Annotated[Count, Display("does not apply", "as the perturber says; no failure")] = Field(
        description="where the perturber says that the dimension does not apply"
    )
    too_short: Annotated[Count, Display("too short", "not asked about: the gold answer has too few words")] = Field(
        description="not asked about: the gold answer has too few words for the dimension"
    )
    failed: Count
    failures: Failures
    left_open: LeftOpen
    changed_nothing: Count = Field(description="of the failed: also the second reply changed nothing")
    changed_all: Count = Field(description="of the failed: also the second reply changed nearly everything")
    coverage: Coverage
    applies: Annotated[
        Share,
        Display("applies", "made, of made and not applicable, with the 95 % interval of the share in percent"),
    ] = Field(description="made, of those that were made or do not apply")
    checked: Count = Field(description="items that a checker said something of")
    agreed: Share = Field(description="of the checked: those that the checker has nothing against")
    doubts: Doubts


class PerturbingGroup(Perturbing):
    """The outcomes for one group of dimensions."""

    title: str = Field(description="its published name")


class PerturbingDimension(PerturbingGroup):
    """The outcomes for one dimension."""

    group: str | None = Field(description="its group's short name; null for score_neutral")


class Golds(Value):
    """The sources of gold answers, and a checker's results on those that a model wrote."""

    given: Count = Field(description="in the data")
    written: Count = Field(description="written and found right")
    right: Count = Field(description="in the data and found right")
    wrong: Count = Field(description="found wrong, whether written or in the data: nothing is made from them")
    failed: Count = Field(description="not written, or the check failed: nothing is made from them")
    open: Count = Field(description="without a result yet")


class PerturbFigures(Perturbing, Used, DataFigures):
    """The figures of a perturbation run."""

    judge: Judge = Field(default="", description="the perturber's name; absent where the items are brought")
    task: Task
    perturber: str | None
    checker: str | None = Field(description="who checked; null for nobody")
    own_work: bool = Field(description="whether the checker is the model that perturbed")
    gold_writer: str | None
    editor: str | None = Field(description="the image model")
    brought: bool = Field(description="whether the images were edited elsewhere")
    per: Count | None = Field(description="samples that each dimension was asked of at most; null for all")
    n: Count = Field(description="samples")
    golds: Golds
    groups: dict[str, PerturbingGroup] = Field(description="by short name; score_neutral among them")
    dimensions: dict[str, PerturbingDimension] = Field(description="by name")
    labels: LabelFigures = Field(description="what people said of the items")


class PerturbRow(Value):
    """The fields of a row in exports and views, as in `COLUMNS`.

    `hint` states the checker's doubts in words, `gold_wrong` its doubts about a written gold answer.
    """

    task: Task
    dimension: str | None = None
    group: str | None = None
    gold: str | None = None
    perturbed: str | None = None
    gold_image: str | None = None
    perturbed_image: str | None = None
    description: str | None = None
    rationale: str | None = None
    instruction: str | None = None
    not_applicable: str | None = None
    checked_as: str | None = None
    doubts: str | None = None
    label: str | None = None
    hint: str | None = None
    gold_wrong: str | None = None


class PerturbItemView(PerturbRow):
    """An item, or the reason why it is missing, with its difference, as in `show --json` and on pages."""

    sample: str
    difference: tuple[tuple[str, str], ...]
    failure: FailureKind | None
    reason: str | None
    calls: tuple[str, ...]


def figures_of_run(home: Home, run: Run) -> PerturbFigures:
    """Return the figures of a run; the same stored rows give the same bytes."""
    plan = run.plan_as(PerturbPlan)
    rows, values = results(home, run.id), values_of(home, run)
    by_item = {row.item: row for row in rows}
    clusters = clusters_by_sample(home, run.id)
    golds, blocked = _golds(plan, values, by_item)
    asked_samples: dict[str, list[str]] = {}
    open_items = golds.open
    for name in plan.dimensions:
        asked_samples[name] = [id for id, names in plan.asked.items() if name in names and id not in blocked]
        open_items += sum(item_of(id, name) not in by_item for id in asked_samples[name])

    def measured(names: Sequence[str]) -> Perturbing:
        items = {item_of(id, name): clusters[id] for name in names for id in asked_samples[name]}
        too_short = sum(plan.too_short.get(name, 0) for name in names)
        return _perturbing(items, too_short, values, by_item)

    by_name = error_dimensions(plan.task)
    titles = {**error_groups(plan.task), "": "Score-neutral"}
    groups: dict[str, PerturbingGroup] = {}
    for group, title in titles.items():
        names = [name for name in plan.dimensions if by_name[name].group == group]
        if names:
            groups[group or NEUTRAL] = PerturbingGroup(**dict(measured(names)), title=title)
    dimensions: dict[str, PerturbingDimension] = {}
    for name in plan.dimensions:
        dimensions[name] = PerturbingDimension(
            **dict(measured([name])), title=by_name[name].title, group=by_name[name].group or None
        )
    return PerturbFigures(
        **heading(run, plan),
        task=plan.task,
        perturber=plan.judge_name or None,
        checker=model_name(plan.checker),
        own_work=plan.checks_own_work,
        gold_writer=model_name(plan.gold_writer),
        editor=model_name(plan.editor),
        brought=plan.edited is not None,
        per=plan.per,
        n=len(clusters),
        golds=golds,
        **dict(measured(plan.dimensions)),
        open_items=open_items,
        groups=groups,
        dimensions=dimensions,
        labels=label_figures(labelled(home, run.id)),
        **calls_and_costs(home, rows),
    )


def _golds(plan: PerturbPlan, values: RunValues, rows: Mapping[str, ResultRow]) -> tuple[Golds, set[str]]:
    """Return the figures of gold answers, and the samples without a usable one."""
    states: list[str] = []
    blocked: set[str] = set()
    for id in (*plan.to_write, *plan.to_check):
        gold = values.golds.get(id)
        if gold_item(id) not in rows:
            state = "open"
        elif gold is None:
            state = "failed"
        elif not gold.right:
            state = "wrong"
        else:
            state = "written" if gold.by else "right"
        states.append(state)
        if state not in ("written", "right"):
            blocked.add(id)
    golds = Golds(
        given=len(plan.golds),
        written=states.count("written"),
        right=states.count("right"),
        wrong=states.count("wrong"),
        failed=states.count("failed"),
        open=states.count("open"),
    )
    return golds, blocked


def _perturbing(
    clusters: Mapping[str, str], too_short: int, values: RunValues, rows: Mapping[str, ResultRow]
) -> Perturbing:
    """Return the figures of some items; `too_short` counts the items too short to be perturbed."""
    perturbed: list[str] = []
    not_applicable: list[str] = []
    failed_rows: list[ResultRow] = []
    asked_count = 0
    for name in clusters:
        absence = values.not_applicable.get(name)
        if absence is not None and absence.too_short:
            too_short += 1
            continue
        asked_count += 1
        if name in values.perturbed:
            perturbed.append(name)
        if absence is not None:
            not_applicable.append(name)
        if name in rows and rows[name].outcome == "failed":
            failed_rows.append(rows[name])
    reasons = [reason_kind(row.reason or "") for row in failed_rows]
    checked_items = [values.perturbed[name] for name in perturbed if values.perturbed[name].checked]
    doubts = [doubt for item in checked_items for doubt in item.doubts]
    decided = [*perturbed, *not_applicable]
    return Perturbing(
        asked=asked_count,
        made=len(perturbed),
        not_applicable=len(not_applicable),
        too_short=too_short,
        failed=len(failed_rows),
        **failure_fields(row.failure for row in failed_rows),
        changed_nothing=reasons.count("nothing"),
        changed_all=reasons.count("all"),
        coverage=ratio(len(decided), asked_count),
        applies=share_of_hits(
            [name in values.perturbed for name in decided],
            [clusters[name] for name in decided],
            unknown=asked_count - len(decided),
        ),
        checked=len(checked_items),
        agreed=share_of_hits([not item.doubts for item in checked_items], [item.cluster for item in checked_items]),
        doubts=Doubts(kind=doubts.count("kind"), also=doubts.count("also"), worse=doubts.count("worse")),
    )


def items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, object]]:
    """Yield each item, or the reason why it is missing, ready for JSON; with `sample`, only those of that sample."""
    rows = ordered_rows(home, run, sample)
    for row, fields in zip(rows, _fields_of(home, run, rows), strict=True):
        difference: Iterable[tuple[str, str]] = ()
        if fields.gold and fields.perturbed:
            difference = word_difference(fields.gold, fields.perturbed)
        view = PerturbItemView(
            **dict(fields),
            sample=row.sample_id,
            difference=tuple(difference),
            failure=row.failure,
            reason=row.reason,
            calls=row.calls,
        )
        yield view.model_dump(mode="json")


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, object]]:
    """Return the values of `COLUMNS` for each row."""
    return [fields.model_dump(mode="json", include=set(COLUMNS)) for fields in _fields_of(home, run, rows)]


def _fields_of(home: Home, run: Run, rows: Iterable[ResultRow]) -> Iterator[PerturbRow]:
    """Yield the fields of each row."""
    plan = run.plan_as(PerturbPlan)
    values, dimensions = values_of(home, run), error_dimensions(plan.task)
    labels = checked_texts(home, run.id)
    for row in rows:
        if row.item.startswith(GOLD):
            gold = values.golds.get(row.sample_id)
            if isinstance(gold, GoldImage):
                doubt = None if gold.right else gold.why
                yield PerturbRow(task=plan.task, gold_image=gold.image.sha256, gold_wrong=doubt)
                continue
            doubt = None if gold is None or gold.right else f"{gold.words}: {gold.why}"
            yield PerturbRow(task=plan.task, gold=gold and gold.text, gold_wrong=doubt)
            continue
        name = row.item.rpartition("/")[2]
        absence = values.not_applicable.get(row.item)
        fields = PerturbRow(
            task=plan.task,
            dimension=name,
            group=dimensions[name].group or NEUTRAL,
            not_applicable=None if absence is None else absence.why,
        )
        perturbed_item = values.perturbed.get(row.item)
        if perturbed_item is not None:
            label = labels.get(value_id(perturbed_item.item))
            item = perturbed_item.item
            update = {
                "gold": item.gold or None,
                "perturbed": item.perturbed or None,
                "description": item.description or None,
                "rationale": item.rationale or None,
                "instruction": item.instruction or None,
                "gold_image": item.gold_image and item.gold_image.sha256,
                "perturbed_image": item.perturbed_image and item.perturbed_image.sha256,
                "checked_as": perturbed_item.check and (perturbed_item.check.kind or "none"),
                "doubts": ",".join(perturbed_item.doubts) or None,
                "hint": perturbed_item.hint or None,
                "label": label.state if label and label.settled_by else None,
            }
            fields = fields.model_copy(update=update)
        yield fields


LINES = "items.jsonl"


def perturbation_files(home: Home, run: Run) -> Mapping[str, bytes]:
    """Return the files by path: `items.jsonl` and `images/`; the same run and the same labels give the same bytes.

    A line has the content id of its perturbation as `id`, the fields of its sample, and the labels of all people in the
    order of their first decisions.
    """
    standings = checked_texts(home, run.id)
    samples = samples_by_id(home, run.id)
    refs: list[ImageRef] = []
    lines: list[bytes] = []
    for source, item in made_values(home, run.id, Perturbed):
        sample = samples[source.sample_id]
        images = [image for image in (*sample.images, item.gold_image, item.perturbed_image) if image is not None]
        refs += images
        row = _row(source.id, item, sample, standings.get(source.id))
        lines.append(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
    return {LINES: b"".join(lines), **image_files(home, refs)}


def _row(id: str, item: Perturbed, sample: Sample, standing: Standing | None) -> dict[str, object]:
    images = [ref.file for ref in sample.images]
    row: dict[str, object] = {
        "id": id,
        "task": item.task,
        "sample": sample.id,
        "prompt": sample.prompt,
        "image": images[0] if len(images) == 1 and item.gold_image is None else None,
        "images": images if len(images) > 1 and item.gold_image is None else None,
        "gold": item.gold,
        "perturbed": item.perturbed,
        "gold_image": None if item.gold_image is None else item.gold_image.file,
        "perturbed_image": None if item.perturbed_image is None else item.perturbed_image.file,
        "dimension": item.dimension,
        "description": item.description,
        "rationale": item.rationale,
        "instruction": item.instruction,
        "by": item.by,
        "reference_answer": sample.reference_answer,
        "reference_answers": list(sample.reference_answers),
        "choices": list(sample.choices),
        "category": sample.category,
        "meta": sample.meta,
        "labels": _labels(standing),
    }
    return {name: value for name, value in row.items() if value not in (None, "", [], {})}


def _labels(standing: Standing | None) -> list[dict[str, str]]:
    labels = {} if standing is None else labels_of(standing)
    return [{"annotator": who, "label": label} for who, label in labels.items()]
