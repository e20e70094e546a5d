"""Verification of a home: what was checked, what is damaged, which runs are affected, and how to repair it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

import orjson

from dokimasia.domain.identity import Value
from dokimasia.storage.home import Home
from dokimasia.storage.verification import EDITED, Check, LedgerDamage, verify_home

_RESTORE = "restore the home from a copy, or save what can be read with `sqlite3 FILE .recover`"
_ANEW = (
    "delete the runs that it touches (dokimasia runs delete RUN){also}, and evaluate again: the ledger answers, unpaid"
)
_VALUE_COLUMNS = {
    "chains": "chain_id",
    "criteria_sets": "criteria_id",
    "responses": "response_id",
    "judgements": "judgement_id",
}


class Wrong(Value):
    """Something wrong: where, its key, what, the runs that it touches, and what to do."""

    where: str
    key: str
    what: str
    runs: tuple[str, ...]
    way_out: str


class HomePart(Value):
    """One part of a home: how much of it was checked, and what is wrong."""

    name: str
    checked: int
    wrong: tuple[Wrong, ...]


class HomeVerification(Value):
    """What verifying a home came to; `ok` only if nothing at all is wrong."""

    ok: bool
    runs: tuple[str, ...]
    parts: tuple[HomePart, ...]


def verify(home: Home) -> HomeVerification:
    """Return the verification of a whole home, which reads everything once and changes nothing."""
    checks = list(verify_home(home))
    touched = _touched(home, [finding for check in checks for finding in check.findings])
    parts = tuple(_part(check, touched) for check in checks)
    runs = sorted({run for part in parts for wrong in part.wrong for run in wrong.runs})
    return HomeVerification(ok=not any(part.wrong for part in parts), runs=tuple(runs), parts=parts)


def _part(check: Check, touched: Mapping[tuple[str, str], set[str]]) -> HomePart:
    wrong = tuple(
        Wrong(
            where=finding.where,
            key=finding.key,
            what=finding.what,
            runs=tuple(sorted(touched.get((finding.where, finding.key), ()))),
            way_out=_way_out(finding),
        )
        for finding in check.findings
    )
    return HomePart(name=check.name, checked=check.checked, wrong=wrong)


def _way_out(finding: LedgerDamage) -> str:
    where, key = finding.where, finding.key
    if where == "blobs":
        if "name is not" in finding.what:
            return "delete the file, which nothing can refer to"
        if finding.what.startswith(EDITED):
            return f"DELETE FROM calls WHERE instr(reply, '{key}'): it is edited, and paid for, anew"
        repetition = "run `dokimasia evaluate` again with the same data file, which puts the image back"
        if "missing" in finding.what:
            return repetition
        return f"delete blobs/{key[:2]}/{key} and {repetition}"
    if where == "calls":
        return (
            f"restore the home from a copy, or DELETE FROM calls WHERE key = '{key}': it is asked, and paid for, anew"
        )
    if where == "texts":
        return "restore the home from a copy, or delete from `calls` those that refer to it: they are asked anew"
    if where in _VALUE_COLUMNS or where in {"samples", "objects"}:
        return _ANEW.format(also=f", DELETE FROM {where} WHERE id = '{key}'")
    if where in {"results", "run_samples"}:
        return _ANEW.format(also="")
    return _RESTORE


def _touched(home: Home, findings: Collection[LedgerDamage]) -> dict[tuple[str, str], set[str]]:
    """Return the affected runs of each finding, by its place and key."""
    wanted = _grouped((finding.where, finding.key) for finding in findings)
    touched: dict[tuple[str, str], set[str]] = {}

    def touch(where: str, key: str, runs: Iterable[str]) -> None:
        touched.setdefault((where, key), set()).update(runs)

    for finding in findings:
        if finding.where == "results" or finding.run:
            touch(finding.where, finding.key, [finding.run or finding.key.split("/", 1)[0]])
    for table, column in _VALUE_COLUMNS.items():
        if table in wanted:
            for run, id in home.all(f"SELECT DISTINCT run_id, {column} FROM results WHERE {column} IS NOT NULL"):
                if id in wanted[table]:
                    touch(table, id, [run])
    runs_of_sample = _grouped(home.all("SELECT sample, run_id FROM run_samples"))
    for key in wanted.get("samples", ()):
        touch("samples", key, runs_of_sample.get(key, ()))
    if blobs := wanted.get("blobs"):
        for id, body in home.all("SELECT id, body FROM samples"):
            for sha256 in _images(body) & blobs:
                touch("blobs", sha256, runs_of_sample.get(id, ()))
        runs_of_call = _grouped(home.all("SELECT c.value, r.run_id FROM results r, json_each(r.calls) c"))
        for key, reply in home.all("SELECT key, reply FROM calls WHERE kind = 'image_edit'"):
            for sha256 in blobs:
                touch("blobs", sha256, runs_of_call.get(key, ()) if sha256 in reply else ())
    if wanted.keys() & {"calls", "texts"}:
        runs_of_call = _grouped(home.all("SELECT c.value, r.run_id FROM results r, json_each(r.calls) c"))
        for key in wanted.get("calls", ()):
            touch("calls", key, runs_of_call.get(key, ()))
        for name in wanted.get("texts", ()):
            sql = "SELECT key FROM calls WHERE instr(request, ?) OR instr(reply, ?)"
            for (key,) in home.all(sql, (name, name)):
                touch("texts", name, runs_of_call.get(key, ()))
    return touched


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    grouped: defaultdict[str, set[str]] = defaultdict(set)
    for key, run in pairs:
        grouped[key].add(run)
    return grouped


def _images(body: str) -> set[str]:
    try:
        return {image["sha256"] for image in orjson.loads(body)["images"]}
    except (ValueError, KeyError, TypeError):
        return set()  # the row itself is among the findings
