"""The demo's probe: answers with planted errors are put to a judge, and what it misses stands beside what is planted."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dokimasia.domain.blindspots import Evaluator
    from dokimasia.settings import Settings

JUDGE, PERTURBER = "sim/judge-blind", "sim/judge"
SCENES = 10
EVALUATORS: tuple["Evaluator", ...] = ("single-axes", "pairwise-axes")
DIMENSIONS = ("entity_substitution", "numerical_errors", "logical_inconsistency", "narrative_visual_conflict")


def probe_step(settings: "Settings", seed: int, *, as_json: bool) -> dict[str, Any]:
    """Perturb answers to a few pictures, probe a judge with them, print what it misses and what is planted; the figures."""
    from dokimasia.cli.drawing import print_blocks
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.perturb import PerturbRequest, perturb
    from dokimasia.methods.probe import ProbeRequest, probe
    from dokimasia.methods.probe.figures import ProbedTask
    from dokimasia.methods.probe.report import planted
    from dokimasia.report.blocks import Paragraph, Span
    from dokimasia.runs.requests import NOBODY
    from dokimasia.simulation.world import write_gold

    data = settings.home / f"gold-{SCENES}-{seed}.jsonl"
    write_gold(data, SCENES, seed)
    asked = PerturbRequest(data=data.absolute(), perturber=PERTURBER, dimensions=DIMENSIONS, checker=NOBODY, seed=seed)
    perturbed = run_to_end(partial(perturb, asked), settings, method="perturb")
    request = ProbeRequest(
        data=Path(str(perturbed.run)), judges=(JUDGE,), evaluators=EVALUATORS, unchecked=True, seed=seed
    )
    result = run_to_end(partial(probe, request), settings, method="probe")
    found = result.summary["tasks"]["image-to-text"]
    expected: dict[Evaluator, dict[str, float]] = {one: _expected(found, one) for one in EVALUATORS}
    truth = {JUDGE: expected}
    if not as_json:
        print_blocks(
            [
                Paragraph(Span("What a judge does not see, measured by answers with an error in them", "strong")),
                planted("image-to-text", ProbedTask.model_validate(found), truth),
            ]
        )
    return {**result.summary, "planted": truth}


def _expected(found: "Mapping[str, Any]", evaluator: "Evaluator") -> dict[str, float]:
    """Return what is planted to go undetected by dimension, and over all errors that were judged."""
    from dokimasia.simulation.profiles import as_judge, find_profile
    from dokimasia.simulation.truths.judges import expected_probe

    judge = as_judge(find_profile(JUDGE))
    shares = {
        name: expected_probe(judge, name, group, evaluator).undetected for name, group in found["dimensions"].items()
    }
    kinds = found["judges"][JUDGE]["evaluators"][evaluator]["dimensions"]
    counts = {name: kinds[name]["undetected"]["n_scored"] for name in shares}
    whole = sum(counts[name] * share for name, share in shares.items()) / max(1, sum(counts.values()))
    return {"": whole, **shares}
