"""The provenance of a run: everything needed to repeat it, with versions."""

from dokimasia.domain.identity import JsonObject
from dokimasia.report.blocks import Block, Cell, Column, Facts, Section, Span, Table
from dokimasia.report.data import ModelFacts, ReportData


def section(data: ReportData) -> Section:
    """Return the section on the run's identity, its models with endpoint and sampling, its prompts and its graphs."""
    facts = data.facts
    blocks: list[Block] = [
        Facts(_facts(data)),
        Table(
            [Column(title, numeric=False) for title in ("role", "name", "model", "endpoint", "sampling")],
            [_model(model) for model in facts.models],
            "Models, as they were asked",
        ),
        Table(
            (Column("prompt", numeric=False), Column("version"), Column("hash", numeric=False)),
            [[prompt.name, prompt.version, Span(prompt.hash, "code")] for prompt in facts.prompts],
            "Prompts",
        ),
    ]
    return Section("provenance", "Provenance", blocks, menu="Versions", only="page")


COMMAND = "Command"
"""The name of the fact that gives a run's command."""


def _facts(data: ReportData) -> list[tuple[str, Cell]]:
    facts = data.facts
    graphs = "other versions than this program's: the run was accepted by another one"
    if facts.graphs is not None:
        graphs = ", ".join(f"{name} {version}" for name, version in facts.graphs.items())
    rows: list[tuple[str, Cell]] = [
        ("Run", (Span(facts.run, "code"), f" ({facts.status})")),
        (COMMAND, Span(f"dokimasia {facts.command}", "code")),
        ("Data", (f"{facts.data_name} · ", Span(facts.data_hash, "code"))),
        ("Seed", str(facts.seed)),
        ("Accepted by", f"Dokimasia {facts.accepted_by}" if facts.accepted_by else "a version that did not say so"),
        ("Report by", f"Dokimasia {facts.written_by}"),
        ("Graphs", graphs),
    ]
    origin = data.common.forked_from
    if origin is not None:
        rows.append(("Forked from", (Span(origin.run, "code"), f" at {origin.node}")))
    return [*rows, *facts.settings]


def _model(model: ModelFacts) -> list[Cell]:
    role = f"{model.role} ({', '.join(model.steps)})" if model.steps else model.role
    return [role, Span(model.name, "strong"), model.model, model.endpoint, sampling_text(model.sampling)]


def sampling_text(sampling: JsonObject) -> str:
    """Return the sampling settings in words, or that the provider's defaults applied."""
    fields = {name: value for name, value in sampling.items() if name != "extra"} | dict(sampling.get("extra", {}))
    return ", ".join(f"{name} {value}" for name, value in fields.items()) or "the provider's defaults"
