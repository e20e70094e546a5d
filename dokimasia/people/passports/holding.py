"""Checks of passports when a run is accepted: whether they match its judges, and their warnings."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import value_id
from dokimasia.domain.passport import Passport
from dokimasia.errors import ConfigError
from dokimasia.people.passports.blindness import asked_otherwise, differences_of, evaluator_for, warnings_of
from dokimasia.people.passports.files import read_passport
from dokimasia.people.passports.options import BLIND_BELOW, JudgeUse, PassportOptions
from dokimasia.people.passports.suitability import judge_check
from dokimasia.report.fields import PassportUsed, as_json
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
    """Return the acceptance with notes from the judges' passports, which are stored with the run.

    A fork uses those of its parent's passports that match its judges and prompts; the files are not needed.

    Args:
        accepted: the acceptance of a request.
        request: the request, which names the files.
        session: the home and the prompts.
        judges: the run's judges.
        ways: how the run uses them.
        tools: whether the run offers them tools.
        chosen: why the judge was chosen; empty if it was named.
        dropped: members left out because of their passports.

    Raises:
        ConfigError: a passport is of none of the run's judges, of another version of one, or was measured with other
            prompts.
        DataError: a file is not a passport, or was modified.
    """
    if request.blind_below != BLIND_BELOW and not (request.passports or dropped) and session.source_run is None:
        raise ConfigError(
            "--blind-below is the bound below which a passport's judge counts as blind: name the passport with "
            "--passport FILE, or leave --blind-below out"
        )
    if session.source_run is None:
        passports = read_all(request.passports)
    else:
        passports = await _parent_passports(session, session.source_run)
    if not (passports or dropped):
        return accepted
    fitting = _fitting(passports, judges, accepted.plan.prompts, session)
    otherwise = _asked_otherwise(judges, fitting, ways)
    used: list[PassportUsed] = []
    for spec in {spec.ref.name: spec for spec in judges}.values():
        name = spec.ref.name
        passport = fitting.get(name)
        warnings = ["no passport: nothing is known of what it misses"]
        if passport is not None:
            warnings = [*_warnings(spec, passport, ways, below=request.blind_below, tools=tools)]
            warnings += otherwise.get(name, [])
        sha256 = None if passport is None else passport.sha256
        used.append(PassportUsed(judge=name, sha256=sha256, warnings=tuple(warnings), chosen=chosen or None))
    used += [PassportUsed(judge=judge.name, sha256=judge.sha256, warnings=(judge.why,)) for judge in dropped]
    lines = [chosen] if chosen else []
    lines += [f"judge {passport.judge}: {warning}" for passport in used for warning in passport.warnings]
    return _with_passports(accepted, used, fitting.values(), lines)


def _fitting(
    passports: Iterable[tuple[str, Passport]],
    judges: Sequence[ModelSpec],
    prompts: Mapping[str, str],
    session: Session,
) -> dict[str, Passport]:
    """Return the passports that are of a run's judges and prompts, by judge; of a fork's those that are not are left out.

    Raises:
        ConfigError: a passport of a new run is of another judge or of other prompts, or there are two of one judge.
    """
    fitting: dict[str, Passport] = {}
    for path, passport in passports:
        judge = _judge_of(passport, judges)
        problem = refusal_of(passport, judges, prompts, session.home)
        if problem and session.source_run is None:
            raise ConfigError(f"{path}: {problem}")
        if judge is None or problem:
            continue
        if judge.ref.name in fitting:
            raise ConfigError(f"{path}: there is another passport of {judge.ref.name} already: name one a judge")
        fitting[judge.ref.name] = passport
    return fitting


def _with_passports(
    accepted: Accepted[P], used: Sequence[PassportUsed], passports: Collection[Passport], lines: Sequence[str]
) -> Accepted[P]:
    """Return what was accepted with passports as values, what they say as notes, and `lines` among those of the estimate."""
    notes = {"passports": [as_json(passport) for passport in used], KEPT: [*map(value_id, passports)]}
    before = accepted.keep

    async def keep(home: Home, run: Run) -> None:
        if before is not None:
            await before(home, run)
        if any(run.options.get(name) != value for name, value in notes.items()):
            await note_run(home, run, notes)

    return replace(
        accepted,
        values=(*accepted.values, *passports),
        notes={**accepted.notes, **notes},
        estimate=accepted.estimate.model_copy(update={"notes": (*accepted.estimate.notes, *lines)}),
        keep=keep,
    )


def read_all(files: Sequence[Path]) -> list[tuple[str, Passport]]:
    """Return the passports of files, each with its file's name.

    Raises:
        InputError: a file is missing, not a passport, or modified.
    """
    return [(str(path), read_passport(path)) for path in files]


def passport_for(
    path: Path, judge: ModelSpec, asked: Mapping[str, str], *, home: Home, tools: bool = False
) -> tuple[Passport, tuple[str, ...]]:
    """Return a file's passport after checking it against a judge and its prompts, and how its measurement differed.

    Raises:
        ConfigError: it is of another judge or version, or was measured with other prompts.
        DataError: the file is not a passport, or was modified.
    """
    passport = read_passport(path)
    if problem := refusal_of(passport, (judge,), asked, home):
        raise ConfigError(f"{path}: {problem}")
    return passport, tuple(differences_of(passport, judge, tools=tools))


def passport_of_judge(found: Sequence[tuple[str, Passport]], spec: ModelSpec) -> Passport | None:
    """Return the passport of a model among several, or None."""
    return next((passport for _, passport in found if _judge_of(passport, (spec,)) is not None), None)


def each_has_one(
    files: Sequence[Path], judges: Sequence[ModelSpec], asked: Mapping[str, str], home: Home
) -> dict[str, Passport]:
    """Return the passports of judges by name; every judge must have one.

    Raises:
        ConfigError: a passport does not match, or a judge has none.
        DataError: a file is not a passport, or was modified.
    """
    passports = read_all(files)
    for path, passport in passports:
        if problem := refusal_of(passport, judges, asked, home):
            raise ConfigError(f"{path}: {problem}")
    by_judge: dict[str, Passport] = {}
    lacking: list[str] = []
    for spec in judges:
        passport = passport_of_judge(passports, spec)
        if passport is None:
            lacking.append(spec.ref.name)
        else:
            by_judge[spec.ref.name] = passport
    if lacking:
        raise ConfigError(f"--passport: {in_words(lacking)} has no passport, and weights need one of every judge")
    return by_judge


async def _parent_passports(session: Session, run: Run) -> list[tuple[str, Passport]]:
    """Return the passports of the forked run."""
    store = SqliteValueStore(session.opened)
    return [(f"run {run.id}", await store.get(Passport, id)) for id in run.texts(KEPT)]


def _judge_of(passport: Passport, judges: Sequence[ModelSpec]) -> ModelSpec | None:
    return next((spec for spec in judges if (spec.ref.model, spec.ref.endpoint) == passport.judge.key), None)


def refusal_of(passport: Passport, judges: Sequence[ModelSpec], asked: Mapping[str, str], home: Home | None) -> str:
    """Return why a passport cannot be used with a run, and what to do; empty if it can.

    The judge's current version is the one that its endpoint last reported to the home.
    """
    own = passport.judge
    judge = _judge_of(passport, judges)
    if judge is None:
        same = next((spec for spec in judges if spec.ref.name == own.name), None)
        current = f"{own.model} at {own.endpoint}"
        if same is not None:
            return (
                f"it is of {own.name} as {current}, and {own.name} is {same.ref.model} at {same.ref.endpoint} here: another "
                f"model has other blind spots; probe this one (dokimasia probe), and make its passport: dokimasia "
                f"passport {own.name}"
            )
        names = in_words([spec.ref.name for spec in judges])
        return f"it is of {own.name} ({current}), and the judge here is {names}: leave it out, or name the passport of {names}"
    now = None if home is None else SqliteLedger(home).last_version(judge.ref.model, judge.ref.endpoint)
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
        if (passport := fitting.get(spec.ref.name)) is None:
            continue
        for way in ways:
            for line in asked_otherwise(passport, way, spec):
                names.setdefault(line, []).append(spec.ref.name)
    by_judge: dict[str, list[str]] = {}
    for line, (first, *others) in names.items():
        also = f" (so, too, {in_words(others)})" if others else ""
        by_judge.setdefault(first, []).append(f"{line}{also}")
    return by_judge


def _warnings(
    spec: ModelSpec, passport: Passport, ways: Sequence[JudgeUse], *, below: float, tools: bool
) -> Iterator[str]:
    """Yield a passport's warnings about this use of its judge."""
    check = judge_check(passport, labelled={}, seconds={})
    if check.verdict == "not suitable":
        yield f"by its passport it is {check.sentence}"
    else:
        rejected = {(use.task, use.evaluator): use for use in check.uses if use.verdict == "not suitable"}
        for way in ways:
            evaluator = evaluator_for(passport, way)
            if evaluator is not None and (use := rejected.get((way.task, evaluator))) is not None:
                yield f"by its passport it is not suitable for {way.what}: {'; '.join(use.reasons)}"
    yield from differences_of(passport, spec, tools=tools)
    for way in ways:
        yield from warnings_of(passport, way, below=below)
