"""Every kind of run over a small planted world: its request, and the runs that it rests on, made once."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import once
from benchmarks.planted_perturbations import write_perturbations
from dokimasia.runs.catalogue import method_named
from dokimasia.runs.lifecycle import RunResult, run
from dokimasia.settings import Settings
from dokimasia.simulation.ranked_world import write_ranked
from dokimasia.simulation.world import write_world

JUDGE, OTHER = "sim/judge", "sim/judge-noisy"
MODELS = ("sim/strong", "sim/weak")
PANEL = ("sim/panel-a", "sim/panel-b", "sim/panel-c")
SAMPLES = 7

PLANTED = ("numerical_errors", "entity_substitution", "score_neutral")
"""What is planted in the answers that judges are probed with."""


@dataclass(frozen=True)
class Kind:
    """A kind of run: its method's name, its request's fields, the kinds that it rests on, and how it is given its data.

    `variant` tells several kinds of one method apart.
    `source` names the field that takes the run of the kind that it rests on; `reasked` says that failed items of it can be
    asked anew, `forked` how it is forked (fields of a fork's request; None where a sentence says what to do instead),
    `compared` that two of it are, `step` after how many calls it is interrupted, `faults` fail
    some of its items. `files` are fields that take files of what they are called after, which lie beside the data.
    """

    name: str
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    on: str = ""
    source: str = ""
    data: bool = True
    given: Any = None
    reasked: bool = True
    forked: Mapping[str, Any] | None = None
    compared: bool = True
    step: int = 3
    faults: str = "content_filter=0.8"
    variant: str = ""
    files: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The kind's own name."""
        return f"{self.name} {self.variant}".strip()

    def request(self, world: Path, source: str, **changes: Any) -> Any:
        """Return its request over a data file, resting on a run."""
        beside = {field: world.with_name(f"{world.stem}.{field}.jsonl") for field in self.files}
        fields = {**self.fields, **beside, **changes}
        if self.data:
            fields["data"] = world
        if self.source:
            fields[self.source] = source
        return method_named(self.name).request.model_validate(fields)


KINDS: dict[str, Kind] = {
    one.id: one
    for one in (
        Kind(
            "evaluate",
            {"judge": JUDGE, "models": MODELS},
            forked={"node": "score", "judge": OTHER},
        ),
        Kind("evaluate", {"models": MODELS}, step=2, variant="by rules"),
        Kind(
            "evaluate",
            {"judge": JUDGE, "models": MODELS, "protocol": "published"},
            forked={"node": "score", "judge": OTHER},
            variant="as published",
        ),
        Kind(
            "evaluate",
            {"judge": JUDGE, "models": MODELS},
            forked={"node": "score", "judge": OTHER},
            variant="of live and stored answers",
            files=("responses",),
        ),
        Kind("filter", {"judge": JUDGE}, forked={"judge": OTHER}, step=1, faults="refusal=1.0"),
        Kind("review", {"panel": PANEL}, forked={"models": {PANEL[2]: "sim/panel-keeper"}}),
        Kind(
            "rubrics",
            {"judge": JUDGE, "pool": MODELS},
            on="review",
            source="data",
            data=False,
            forked={"judge": OTHER},
        ),
        Kind(
            "audit",
            {"judge": JUDGE, "models": MODELS},
            on="rubrics",
            source="rubrics",
            forked={"judge": OTHER},
        ),
        Kind(
            "duel",
            {"judge": JUDGE, "models": MODELS, "baseline": "sim/steady", "no_image": True, "noise_floor": True},
            forked={"judge": OTHER},
        ),
        Kind(
            "duel",
            {"judge": JUDGE, "models": MODELS, "baseline": "reference", "single": True},
            forked={"judge": OTHER},
            variant="with the reference",
        ),
        Kind(
            "judging",
            {"judges": (JUDGE,)},
            forked={"models": {JUDGE: OTHER}},
            compared=False,
            files=("responses", "auxiliary", "rankings"),
            step=60,
        ),
        Kind(
            "probe",
            {
                "judges": (JUDGE,),
                "evaluators": ("single-axes", "pairwise-vanilla", "reference", "right-or-wrong"),
                "reader": "sim/judge-lenient",
                "unchecked": True,
            },
            data=False,
            forked={"models": {JUDGE: OTHER}},
            files=("data",),
            step=20,
        ),
        Kind(
            "arena",
            {"judge": JUDGE, "models": (*MODELS, "sim/steady"), "draw": "swiss", "rounds": 2},
            forked={"judge": OTHER},
        ),
        Kind("refine", {"models": ("sim/weak",)}, on="evaluate", source="run", data=False),
        Kind(
            "tree",
            {"judge": JUDGE, "subsample": 0},
            on="evaluate",
            source="run",
            data=False,
            reasked=False,
            compared=False,
        ),
        Kind(
            "modes", {"judge": JUDGE}, on="evaluate", source="run", data=False, forked={"judge": OTHER}, compared=False
        ),
        Kind(
            "quality",
            {"judge": JUDGE, "per": 100},
            on="evaluate",
            source="run",
            data=False,
            forked={"judge": OTHER},
            step=2,
        ),
        Kind("diagnosis", {"judge": JUDGE}, on="evaluate", source="run", data=False, forked={"judge": OTHER}),
        Kind(
            "fingerprint",
            {"judge": JUDGE, "responses": 2, "trials": 2},
            on="evaluate",
            source="run",
            data=False,
            forked={"judge": OTHER},
        ),
        Kind(
            "perturb",
            {
                "perturber": JUDGE,
                "gold_writer": "sim/steady",
                "checker": OTHER,
                "dimensions": ("numerical_errors", "tone_mismatch", "score_neutral"),
            },
            forked={"models": {JUDGE: "sim/judge-lenient"}},
        ),
        Kind(
            "perturb",
            {
                "task": "text-to-image",
                "perturber": JUDGE,
                "editor": "sim/editor",
                "checker": OTHER,
                "dimensions": ("overcrowding", "score_neutral"),
            },
            forked={"models": {JUDGE: "sim/judge-lenient"}},
            variant="of images",
        ),
        Kind(
            "graph",
            {"graph": "once", "judge": JUDGE, "models": MODELS},
            given=once,
            forked={"models": {"sim/weak": "sim/steady"}},
        ),
    )
}


def write_data(path: Path) -> None:
    """Write a data file of seven questions of the planted world, one a domain; beside it responses, rankings, perturbations."""
    write_world(path, SAMPLES, 3)
    write_ranked(path, SAMPLES, 3)
    write_perturbations(path.with_name(f"{path.stem}.data.jsonl"), 3, dimensions=PLANTED)


def models_of(kinds: Iterable[Kind]) -> list[str]:
    """Return the simulated models that runs of these kinds ask."""
    values = [value for kind in kinds for value in kind.fields.values()]
    named = {
        name
        for value in values
        for name in ((value,) if isinstance(value, str) else value if isinstance(value, tuple) else ())
    }
    return sorted(name for name in named if name.startswith("sim/"))


def made(settings: Settings, world: Path, kind: Kind, **changes: Any) -> RunResult:
    """Make a run of a kind, and first those that it rests on."""
    return asyncio.run(make(settings, world, kind, **changes))


async def make(
    settings: Settings, world: Path, kind: Kind, *, services: Mapping[str, Any] | None = None, **changes: Any
) -> RunResult:
    """Make a run of a kind, and first those that it rests on, which take no part in `services`."""
    source = (await make(settings, world, KINDS[kind.on])).run if kind.on else ""
    request = kind.request(world, source, **changes)
    return await run(method_named(kind.name), request, settings=settings, given=kind.given, **(services or {}))


Request = Callable[..., Any]
