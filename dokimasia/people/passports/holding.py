"""Checks of passports when a run is accepted: whether they fit its judges, and their warnings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import value_id
from dokimasia.domain.passport import Passport
from dokimasia.errors import ConfigError
from dokimasia.people.passports.blindness import asked_otherwise, differences_of, warnings_of
from dokimasia.people.passports.files import read_passport
from dokimasia.people.passports.options import BLIND_BELOW, JudgeUse, PassportOptions
from dokimasia.people.passports.suitability import judge_check
from dokimasia.report.figures import in_words
from dokimasia.runs.plans import RunPlan
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.runs import Run, SqliteValueStore, note_run

P = TypeVar("P", bound=RunPlan)


class DroppedJudge(NamedTuple):
    """A dropped member of a panel, the hash of its passport, and the reason in words."""

    name: str
    sha256: str
    why: str


KEPT = "passport_ids"
"""The note of a run with the ids of its passports, which are stored in the home."""


async def held(
    accepted: Accepted[P],
    request: PassportOptions,
    session: Session,
    *,
    judges: Sequence[ModelSpec],
    ways: Sequence[JudgeUse],
    tools: bool = False,
    chosen: str = "",
    dropped: Sequence[DroppedJudge] = (),
) -> Accepted[P]:
    """Return what was accepted with what the judges' passports say of it, kept with the run and told before it starts.

    A fork takes the passports of its parent, as far as they are of its judges and its prompts; the files are not needed.

    Args:
        accepted: what a request came to.
        request: names the files.
        session: the home and the prompts.
        judges: the run's judges.
        ways: how it uses them.
        tools: whether it offers them tools.
        chosen: why the judge was chosen; empty where it was named.
        dropped: who was left out for what its passport says.

    Raises:
        ConfigError: a passport is of no judge of the run, of another version of it, or was measured by other prompts.
        DataError: a file is no passport, or is not as it was made.
    """
    if request.blind_below != BLIND_BELOW and not (request.passports or dropped) and session.forked is None:
        raise ConfigError(
            "--blind-below is the bound below which a passport's judge counts as blind: name the passport with "
            "--passport FILE, or leave --blind-below out"
        )
    asked = accepted.plan.prompts
    found = await _kept(session) if session.forked is not None else read_all(request.passports)
    fitting: dict[str, Passport] = {}
    for path, passport in found:
        judge = _judge_of(passport, judges)
        problem = refusal_of(passport, judge, judges, asked, _version_now(session.home, judge))
        if problem and session.forked is None:
            raise ConfigError(f"{path}: {problem}")
        if judge is None or problem:
            continue
        if judge.ref.name in fitting:
            raise ConfigError(f"{path}: there is another passport of {judge.ref.name} already: name one a judge")
        fitting[judge.ref.name] = passport
    if not (found or dropped):
        return accepted
    told = [
        _told(spec, fitting.get(spec.ref.name), ways, below=request.blind_below, tools=tools)
        for spec in {spec.ref.name: spec for spec in judges}.values()
    ]
    otherwise = _asked_otherwise(judges, fitting, ways)
    for one in told:
        one["warnings"] += otherwise.get(one["judge"], [])
    if chosen:
        told = [one | {"chosen": chosen} for one in told]
    told += [{"judge": one.name, "sha256": one.sha256, "warnings": [one.why]} for one in dropped]
    notes = {"passports": told, KEPT: [value_id(one) for one in fitting.values()]}
    lines = [*filter(None, [chosen])]
    lines += [f"judge {one['judge']}: {line}" for one in told for line in one["warnings"]]
    before = accepted.keep

    async def keep(home: Home, run: Run) -> None:
        if before is not None:
            await before(home, run)
        if any(run.options.get(name) != value for name, value in notes.items()):
            await note_run(home, run, notes)

    return replace(
        accepted,
        values=(*accepted.values, *fitting.values()),
        notes={**accepted.notes, **notes},
        estimate=accepted.estimate.model_copy(update={"notes": (*accepted.estimate.notes, *lines)}),
        keep=keep,
    )


def read_all(files: Sequence[Path]) -> list[tuple[str, Passport]]:
    """Return the passports of files, each with what its file is called.

    Raises:
        InputError: a file is not there, no passport, or not as it was made.
    """
    return [(str(path), read_passport(path)) for path in files]


def passport_for(
    path: Path, judge: ModelSpec, asked: Mapping[str, str], *, home: Home, tools: bool = False
) -> tuple[Passport, tuple[str, ...]]:
    """Return the passport of a file, held against a judge and its prompts, and in what the judge was measured otherwise.

    Raises:
        ConfigError: it is of another judge or version of it, or was measured by other prompts.
        DataError: the file is no passport, or is not as it was made.
    """
    passport = read_passport(path)
    named = _judge_of(passport, (judge,))
    if problem := refusal_of(passport, named, (judge,), asked, _version_now(home, named)):
        raise ConfigError(f"{path}: {problem}")
    return passport, tuple(differences_of(passport, judge, tools=tools))


def passport_of_judge(found: Sequence[tuple[str, Passport]], spec: ModelSpec) -> Passport | None:
    """Return the passport of a model among several, or None."""
    return next((one for _, one in found if one.judge.key == (spec.ref.model, spec.ref.endpoint)), None)


def each_has_one(
    files: Sequence[Path], judges: Sequence[ModelSpec], asked: Mapping[str, str], home: Home
) -> dict[str, Passport]:
    """Return the passports of judges by name, each of which has one.

    Raises:
        ConfigError: a passport does not fit, or a judge has none.
        DataError: a file is no passport, or is not as it was made.
    """
    found = read_all(files)
    for path, passport in found:
        judge = _judge_of(passport, judges)
        if problem := refusal_of(passport, judge, judges, asked, _version_now(home, judge)):
            raise ConfigError(f"{path}: {problem}")
    of_judges = {spec.ref.name: passport_of_judge(found, spec) for spec in judges}
    if lacking := [name for name, one in of_judges.items() if one is None]:
        raise ConfigError(f"--passport: {in_words(lacking)} has no passport, and weights need one of every judge")
    return {name: one for name, one in of_judges.items() if one is not None}


async def _kept(session: Session) -> list[tuple[str, Passport]]:
    run = session.forked
    ids = [] if run is None else run.texts(KEPT)
    store = SqliteValueStore(session.opened)
    return [(f"run {run.id if run else ''}", await store.get(Passport, id)) for id in ids]


def _judge_of(passport: Passport, judges: Sequence[ModelSpec]) -> ModelSpec | None:
    return next((spec for spec in judges if (spec.ref.model, spec.ref.endpoint) == passport.judge.key), None)


def refusal_of(
    passport: Passport, judge: ModelSpec | None, judges: Sequence[ModelSpec], asked: Mapping[str, str], now: str | None
) -> str:
    """Return why a passport cannot be used with a run, and what to do; empty if it can.

    `now` is the judge's version as last reported by its endpoint to this home.
    """
    own = passport.judge
    if judge is None:
        same = next((spec for spec in judges if spec.ref.name == own.name), None)
        there = f"{own.model} at {own.endpoint}"
        if same is not None:
            return (
                f"it is of {own.name} as {there}, and {own.name} is {same.ref.model} at {same.ref.endpoint} here: another "
                f"model has other blind spots; probe this one (dokimasia probe), and make its passport: dokimasia "
                f"passport {own.name}"
            )
        names = in_words([spec.ref.name for spec in judges])
        return f"it is of {own.name} ({there}), and the judge here is {names}: leave it out, or name the passport of {names}"
    if own.version is not None and now is not None and now not in own.version.split(", "):
        return (
            f"{own.name} was measured as {own.version}, and its endpoint says {now} now: another version has other blind "
            f"spots; probe it anew (dokimasia probe), and make its passport: dokimasia passport {own.name}"
        )
    other = [name for name, version in passport.prompts.items() if asked.get(name, version) != version]
    if other:
        name = other[0]
        return (
            f"{own.name} was measured with the prompt {name} {_version(passport.prompts[name])}, and this run asks by "
            f"{_version(asked[name])}: what it detects under other words is not known; probe it anew by the prompts of this run, "
            "or name the folder of prompts that the probe was asked by (--prompts)"
        )
    return ""


def _version_now(home: Home | None, judge: ModelSpec | None) -> str | None:
    if home is None or judge is None:
        return None
    return SqliteLedger(home).last_version(judge.ref.model, judge.ref.endpoint)


def _version(prompt: str) -> str:
    """Return a prompt's version and the beginning of its hash in words."""
    version, _, hash = prompt.partition(":")
    return f"version {version} ({hash[:8]})"


def _asked_otherwise(
    judges: Sequence[ModelSpec], fitting: Mapping[str, Passport], ways: Sequence[JudgeUse]
) -> dict[str, list[str]]:
    """Return how judges' measurement differs from the run, by judge; a sentence on several is listed for the first."""
    names: dict[str, list[str]] = {}
    for spec in judges:
        passport = fitting.get(spec.ref.name)
        for line in [] if passport is None else [one for way in ways for one in asked_otherwise(passport, way, spec)]:
            names.setdefault(line, []).append(spec.ref.name)
    found: dict[str, list[str]] = {}
    for line, (first, *others) in names.items():
        found.setdefault(first, []).append(f"{line} (so, too, {in_words(others)})" if others else line)
    return found


def _told(
    spec: ModelSpec, passport: Passport | None, ways: Sequence[JudgeUse], *, below: float, tools: bool
) -> dict[str, Any]:
    """Return what is said of a judge: `report.fields.PassportUsed`."""
    if passport is None:
        return {"judge": spec.ref.name, "sha256": None, "warnings": ["no passport: nothing is known of what it misses"]}
    check = judge_check(passport, labelled={}, seconds={})
    lines: list[str] = []
    if check.verdict == "not suitable":
        lines.append(f"by its passport it is {check.sentence}")
    lines += differences_of(passport, spec, tools=tools)
    for way in ways:
        lines += warnings_of(passport, way, spec, below=below)
    return {"judge": spec.ref.name, "sha256": passport.sha256, "warnings": lines}
