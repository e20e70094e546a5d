"""A gate: whether a run is worse than its baseline by more than allowed; its figures, and how they are written."""

from collections.abc import Iterator
from typing import Literal
from xml.etree import ElementTree

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.report import figures
from dokimasia.report.blocks import Block, Cell, Column, Paragraph, Span, Table, plain
from dokimasia.report.board import MEASURED, Measure
from dokimasia.report.conclusions import MOST_SENTENCES, as_paragraph
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.report.fields import Bounds, Count, Counts, Interval

GateVerdict = Literal["no drop", "drop", "cannot tell"]

GRAVEST_FIRST: tuple[GateVerdict, ...] = ("drop", "cannot tell", "no drop")

TONES: dict[GateVerdict, Literal["good", "bad", "strong"]] = {"no drop": "good", "drop": "bad", "cannot tell": "strong"}


class GateDecision(Value):
    """Whether a mean fell by more than is allowed, in the unit of the scale."""

    n: Count = Field(description="samples with a value in both runs")
    n_changed: Count = Field(description="those whose value differs between the two runs")
    n_undecided: Count = Field(description="those with an answer, in either run, that is neither right nor wrong")
    baseline: float | None = Field(description="mean of the baseline; null without a sample")
    mean: float | None
    difference: Interval | None = Field(description="run minus baseline; the interval holds at the gate's `level`")
    outer: Bounds | None = Field(
        description="the interval's ends whatever undecided answers are; null where none is undecided"
    )
    bounds: Bounds | None = Field(
        description="of the difference over all samples of the baseline, whatever the lost ones came to"
    )
    verdict: GateVerdict
    samples_needed: Count | None = Field(
        description="samples that decide a difference of this size in 4 of 5 cases; null where it is decided, or where these "
        "samples do not say"
    )


class GatedModel(GateDecision):
    """A model of the run beside that of the baseline, on the samples that both have."""

    baseline_model: str
    model: str
    n_baseline: Count = Field(description="samples of the baseline")
    lost: Counts = Field(description="samples of the baseline without a value in both runs, by reason")


class Gate(Value):
    """Whether the models of a run are worse than those of its baseline by more than `max_drop`."""

    run: str
    baseline: str
    measure: Measure
    scale: tuple[float, float] = Field(description="lowest and highest value")
    max_drop: float = Field(description="percent of the length of the scale, for accuracy percentage points")
    direction: Literal["run minus baseline"]
    level: float = Field(description="of the intervals: 95 % for all models together")
    verdict: GateVerdict = Field(
        description="`drop` if a model has one, `no drop` if no model has one, else `cannot tell`"
    )
    models: tuple[GatedModel, ...]
    ungated: tuple[str, ...] = Field(description="models of the baseline that the run does not have")
    simulated: tuple[str, ...]
    seed: Count

    @property
    def margin(self) -> float:
        """The largest allowed drop, in the unit of the scale."""
        return self.max_drop / 100 * (self.scale[1] - self.scale[0])

    @property
    def measured(self) -> str:
        """The measure in words."""
        return MEASURED[self.measure]

    def written(self, value: float, *, signed: bool = False) -> str:
        """Return a mean, or with `signed` a difference, in percent for accuracy."""
        scaled, digits = (100 * value, 1) if self.measure == "accuracy" else (value, 2)
        if signed:
            return figures.signed_text(scaled, digits)
        return f"{scaled:.{digits}f}"


def gate_blocks(gate: Gate) -> Iterator[Block]:
    """Yield the blocks of a gate: its verdict, the table of models, and their meaning."""
    if gate.simulated:
        yield Paragraph(SIMULATED_NOTE, "warning")
    yield Paragraph(as_paragraph(_conclusion(gate)), "lead")
    if gate.ungated:
        names = figures.in_words(gate.ungated)
        yield Paragraph(f"Only in the baseline, and so not gated: {names}.", "warning")
    if gate.run == gate.baseline and all(model.model == model.baseline_model for model in gate.models):
        yield Paragraph("Both names are of one run: nothing changed, and no model was asked.", "warning")
    for model in gate.models:
        if model.lost:
            missing = figures.several(model.n_baseline - model.n, "sample")
            lost = ", ".join(f"{count} {reason}" for reason, count in model.lost.items())
            yield Paragraph(
                f"{_name(model)}: {missing} of the baseline without a value in both runs ({lost}).", "warning"
            )
    columns = [Column("model", numeric=False), Column("verdict", numeric=False)]
    columns += [Column(title) for title in ("samples", "baseline", "run", "difference")]
    yield Table(columns, [_row(gate, model) for model in gate.models], "Gate")
    unit = "in percent" if gate.measure == "accuracy" else f"on the scale from {gate.scale[0]:g} to {gate.scale[1]:g}"
    yield Paragraph(
        f"{gate.measured.capitalize()} {unit}; difference: {gate.direction}, on the samples that have a value in both, "
        "undecided answers counted as not right. "
        f"A drop is an interval wholly below {gate.written(-gate.margin, signed=True)}, no drop "
        f"one wholly above it. The intervals, clustered by samples that share an image, hold at 95 % for all models at once.",
        "note",
    )


def junit(gate: Gate, *, allow_undecided: bool = False) -> str:
    """Return a gate as JUnit XML, a test case for each model.

    A drop is a failure; so is an undecided model, or with `allow_undecided` a skipped test.
    """
    open_as = "skipped" if allow_undecided else "failure"
    suite = ElementTree.Element("testsuite", name="dokimasia gate", tests=f"{len(gate.models)}")
    counts = {"failures": 0, "skipped": 0, "errors": 0}
    for model in gate.models:
        case = ElementTree.SubElement(suite, "testcase", classname=f"dokimasia.gate.{gate.measure}", name=_name(model))
        if model.verdict == "no drop":
            ElementTree.SubElement(case, "system-out").text = plain(_sentence(gate, model))
            continue
        kind = "failure" if model.verdict == "drop" else open_as
        counts["failures" if kind == "failure" else "skipped"] += 1
        ElementTree.SubElement(case, kind, type=model.verdict, message=plain(_sentence(gate, model)))
    suite.attrib.update({name: f"{count}" for name, count in counts.items()})
    ElementTree.indent(suite)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suite, encoding="unicode")}\n'


def _name(model: GatedModel) -> str:
    return " → ".join(dict.fromkeys((model.baseline_model, model.model)))


def _conclusion(gate: Gate) -> list[Cell]:
    allowed = f"{gate.max_drop:g} {'percentage points' if gate.measure == 'accuracy' else 'percent of the scale'}"
    headline = {
        "drop": f": {gate.measured} fell by more than {allowed}.",
        "no drop": f": no model's {gate.measured} fell by more than {allowed}.",
        "cannot tell": f": the samples do not show whether {gate.measured} fell by more than {allowed}.",
    }
    sentences: list[Cell] = [(Span(gate.verdict.capitalize(), TONES[gate.verdict]), headline[gate.verdict])]
    models = sorted(gate.models, key=lambda model: GRAVEST_FIRST.index(model.verdict))
    listed = models[: MOST_SENTENCES - 1 if len(models) < MOST_SENTENCES else MOST_SENTENCES - 2]
    sentences += [_sentence(gate, model) for model in listed]
    if len(models) > len(listed):
        more = figures.several(len(models) - len(listed), "more model is", "more models are")
        sentences.append(f"{more} in the table.")
    return sentences


def _sentence(gate: Gate, model: GatedModel) -> Cell:
    name = Span(_name(model), "strong")
    if model.difference is None or model.baseline is None or model.mean is None:
        return (name, ": no sample has a value in both runs.")
    unit = "percentage points" if gate.measure == "accuracy" else "points"
    means = f"{gate.written(model.baseline)} → {gate.written(model.mean)}"
    if not model.n_changed:
        means = f"{gate.measured} is unchanged, {gate.written(model.mean)}"
    text = f": {means}, {_difference(gate, model.difference)} {unit} on {figures.several(model.n, 'sample')}"
    if model.verdict != "cannot tell":
        return (name, f"{text}: {model.verdict}.")
    if model.samples_needed is not None:
        return (name, f"{text}: not settled; about {model.samples_needed:,} samples would settle it.")
    if model.outer is not None and model.outer.low <= -gate.margin <= model.outer.high:
        ends = " to ".join(gate.written(end, signed=True) for end in (model.outer.low, model.outer.high))
        answers = figures.several(model.n_undecided, "sample")
        return (name, f"{text}: not settled, since undecided answers to {answers} leave {ends}; a judge decides them.")
    if model.n < model.n_baseline:
        missing = figures.several(model.n_baseline - model.n, "sample")
        return (name, f"{text}: not settled, since {missing} without a value could hide a drop.")
    return (name, f"{text}: not settled.")


def _difference(gate: Gate, difference: Interval) -> str:
    brackets = figures.bracketed(difference, lambda end: gate.written(end, signed=True))
    return f"{gate.written(difference.mean, signed=True)}{brackets}"


def _row(gate: Gate, model: GatedModel) -> list[Cell]:
    counts = f"{model.n}" if model.n == model.n_baseline else f"{model.n}/{model.n_baseline}"
    means = [figures.NOTHING if mean is None else gate.written(mean) for mean in (model.baseline, model.mean)]
    difference = figures.NOTHING if model.difference is None else _difference(gate, model.difference)
    return [Span(_name(model), "strong"), Span(model.verdict, TONES[model.verdict]), counts, *means, difference]
