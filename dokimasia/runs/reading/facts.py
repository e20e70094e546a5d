"""What ran, and with which versions: read from the plan of a run of any kind."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import Value
from dokimasia.report.data import ModelFacts, PromptFacts, Role, RunFacts
from dokimasia.storage.runs import Run
from dokimasia.version import __version__

ROLES: Mapping[str, Role] = {
    "candidates": "candidate",
    "models": "model",
    "panel": "member",
    "pool": "pool",
    "peers": "peer",
    "baseline": "baseline",
    "judge": "judge",
    "judges": "judge",
    "embedding": "embedding",
}
"""By the field of a plan: what its models are asked for."""

SETTINGS: Mapping[str, tuple[str, str]] = {
    "source": ("Source", "{}"),
    "onto": ("Grown on", "{}"),
    "rubrics": ("Rubrics", "{}"),
    "ask": ("Question put", "--ask {}"),
    "protocol": ("Protocol", "{}"),
    "tolerance": ("Numbers may lie apart by", "{} of the larger"),
    "repeats": ("Repeats", "{}"),
    "no_image": ("Blind arm", "{}"),
    "show_image": ("Judge sees the image when it scores", "{}"),
    "baseline_name": ("Baseline", "{}"),
    "judge_sees": ("Judge of the duels is shown", "{}"),
    "factuality": ("Visual factuality judged by", "{}"),
    "single": ("One order of places alone", "{}"),
    "noise_floor": ("Noise floor", "{}"),
    "tools": ("Judge's tools", "{}"),
    "limit": ("Limit", "the first {} samples of the file"),
    "criteria": ("Criteria", "collection {}"),
    "responses": ("Answers", "{}"),
    "auxiliary": ("Auxiliary responses", "{}"),
    "rankings": ("Human rankings", "{}"),
    "orders": ("Orders of a batch", "{}"),
    "thresholds": ("Thresholds", "{}"),
    "cycles": ("Cycles at most", "{}"),
    "accept": ("Accepts", "{}"),
    "request": ("Request", "{}"),
    "arms": ("Arms", "{}"),
    "threshold": ("Taken up", "scores below {}"),
    "rounds": ("Rounds at most", "{}"),
    "withhold": ("Withheld", "{} of the failed atoms"),
    "judgements": ("Judgements of each new answer", "{}"),
    "leak_judge": ("Judge looks for leaks, too", "{}"),
    "show_answer": ("Model sees its earlier answer", "{}"),
    "growth": ("Growth", "{}"),
    "tasks": ("Trials", "{}"),
    "fresh": ("Done anew", "{} times with --fresh"),
}
"""By the field of a plan: what a reader is told of it, and how. What is not set is not told."""


def facts_of(run: Run, plan: Value, *, graphs: Mapping[str, int] | None, open_questions: int = 0) -> RunFacts:
    """Return what ran: models with their roles, prompts, and the other options in words.

    Args:
        run: the run as it was accepted.
        plan: its plan.
        open_questions: how many questions to people are open.
        graphs: the graphs' versions; None where this program's are not those of the run.
    """
    fields: Mapping[str, Any] = dict(plan)
    prompts: Mapping[str, str] = fields.get("prompts", {})
    return RunFacts(
        run=run.id,
        status=run.status,
        command=run.command,
        data_name=Path(run.data_name).name,
        data_hash=run.data_hash,
        seed=run.seed,
        accepted_by=run.version,
        written_by=__version__,
        models=tuple(_models(fields)),
        prompts=tuple(PromptFacts(name, *one.partition(":")[::2]) for name, one in sorted(prompts.items())),
        graphs=graphs,
        settings=tuple(_settings(plan)),
        open_questions=open_questions,
    )


def _models(fields: Mapping[str, Any]) -> Iterator[ModelFacts]:
    """Yield each model once for everything that it is asked for; a peer that is a candidate, too, is a candidate."""
    named: set[tuple[str, bool]] = set()
    for field, role in ROLES.items():
        found: Any = fields.get(field)
        several: Any = found if isinstance(found, tuple) else (found,)
        for spec in several:
            if not isinstance(spec, ModelSpec):
                continue
            one = (spec.ref.name, role == "judge")
            if role != "peer" or one not in named:
                yield _model(role, spec)
            named.add(one)
    for field in fields.keys() - ROLES.keys():
        found = fields[field]
        yield from (
            _model("model", spec) for spec in (found if isinstance(found, tuple) else ()) if isinstance(spec, ModelSpec)
        )
    by_step: Any = fields.get("judges", {})
    judges: Mapping[str, ModelSpec] = by_step if isinstance(by_step, Mapping) else {}
    own: ModelSpec | None = fields.get("judge")
    for name in dict.fromkeys(spec.ref.name for spec in judges.values() if own is None or spec.ref != own.ref):
        steps = tuple(step for step, spec in judges.items() if spec.ref.name == name)
        yield _model("judge", judges[steps[0]], steps=steps)


def _model(role: Role, spec: ModelSpec, *, steps: tuple[str, ...] = ()) -> ModelFacts:
    sampling = spec.sampling.model_dump(mode="json", exclude_none=True)
    return ModelFacts(role, spec.ref.name, spec.ref.model, spec.ref.endpoint, sampling, steps)


def _settings(plan: Value) -> Iterator[tuple[str, str]]:
    shown = plan.model_dump(mode="json")
    judged, given = bool(shown.get("judge") or shown.get("judges")), shown.get("responses") is not None
    idle = {*(() if judged and "judge_sees" not in shown else ("show_image",)), *(("ask",) if given else ())}
    for field, (title, words) in SETTINGS.items():
        value = shown.get(field)
        if (isinstance(value, bool) or value) and field not in idle:
            yield title, words.format(_words(value))


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(
            f"{name.replace('_', ' ')} {_words(one)}" for name, one in value.items() if one not in (None, "")
        )
    if isinstance(value, list):
        return ", ".join(_words(one) for one in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
