"""What reports and exports of a large evaluation take: 40 models and 3,000 samples, written straight into a home.

No call is made. Models have planted skills, so that the figures have something to find.
"""

import argparse
import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from benchmarks.command import ROOT, BenchmarkFailed, Options, run_benchmark, say, scratch, sized
from benchmarks.figures import Figure, Report
from benchmarks.workload import CRITERIA, JUDGE, Prompts, candidates, write_config
from dokimasia.algorithms.scoring import addressed_score, weighted_score
from dokimasia.domain.identity import Value, digest
from dokimasia.domain.judgement import CheckpointScores, FinalAnswer, Provenance, Response
from dokimasia.domain.sample import Sample
from dokimasia.methods.evaluation import METHOD, EvaluationRequest
from dokimasia.methods.evaluation.criteria import FORMAT, import_criteria
from dokimasia.methods.evaluation.plan import EvaluationPlan, replay_item
from dokimasia.runs.persistence import persist_run
from dokimasia.runs.session import Session
from dokimasia.settings import load_settings
from dokimasia.storage.criteria import load_collection
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow
from dokimasia.storage.runs import Run, load_samples, set_status
from dokimasia.storage.schema.rows import insert_rows, insert_statement
from dokimasia.storage.values import now, packed_row, row_of, table_of

MODELS, SAMPLES = 40, 3_000
REPORT_SECONDS, EXPORT_MB = 15.0, 300
PROMPT_LENGTH, ANSWER_LENGTH = 200, 120
SIDES = ("left", "right")
AT_ONCE = 50
"""Samples whose rows are written in one transaction."""


async def write_large_run(folder: Path, *, samples: int, models: int) -> str:
    """Write a finished evaluation into `folder/home`, and return its id; the same arguments give the same results."""
    _write_data(folder, samples=samples, models=models)
    settings = load_settings(config=folder / "dokimasia.toml", home=folder / "home", env={})
    with Home.open(folder / "home", write=True) as home:
        collection, _ = await import_criteria(home, folder / "criteria.jsonl")
        request = EvaluationRequest(
            data=folder / "data.jsonl", judge=JUDGE, models=candidates(models), criteria=collection
        )
        session = Session(settings, home, METHOD.library(request, None))
        run, _ = await persist_run(METHOD, home, request, await METHOD.accept_checked(request, session))
        criteria_id = load_collection(home, collection)[0].criteria_id
        plan = run.plan_as(EvaluationPlan)
        stored = list(load_samples(home, run.id))
        for start in range(0, len(stored), AT_ONCE):
            part = stored[start : start + AT_ONCE]
            written = [row for sample in part for row in _rows(run, plan, sample, criteria_id)]
            await home.write(lambda connection, written=written: _insert(connection, written))
        await set_status(home, run.id, "done")
    return run.id


def _write_data(folder: Path, *, samples: int, models: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_config(folder, "http://127.0.0.1:9/v1", candidates_count=models, concurrency=1)
    prompts, criteria = Prompts(), CRITERIA.model_dump(mode="json")
    with open(folder / "data.jsonl", "wb") as data, open(folder / "criteria.jsonl", "wb") as sets:
        for number in range(samples):
            sample = Sample(
                id=f"s{number:06}", prompt=prompts[number][:PROMPT_LENGTH], reference_answer=SIDES[number % 2]
            )
            data.write(
                orjson.dumps({"id": sample.id, "prompt": sample.prompt, "reference_answer": sample.reference_answer})
            )
            data.write(b"\n")
            entry = {"format": FORMAT, "sample": sample.id, "sample_digest": sample.digest, "prompt": sample.prompt}
            sets.write(orjson.dumps(entry | {"chain": None, "criteria": criteria}) + b"\n")


class _Written(NamedTuple):
    """A row of a table; `value` is the type of a stored value, None for a sealed row."""

    table: str
    row: dict[str, Any]
    value: type[Value] | None = None


def _insert(connection: Any, written: Sequence[_Written]) -> None:
    for table in dict.fromkeys(each.table for each in written):
        listed = [each for each in written if each.table == table]
        value = listed[0].value
        if value is None:
            insert_rows(connection, table, [each.row for each in listed])
            continue
        rows = [packed_row(value, each.row) for each in listed]
        connection.executemany(insert_statement(table, rows[0]), [tuple(row.values()) for row in rows])


def _rows(run: Run, plan: EvaluationPlan, sample: Sample, criteria_id: str) -> Iterator[_Written]:
    """Yield all rows of a sample: its criteria's, and each answer with its judgement and its two calls."""
    common: dict[str, Any] = {
        "run_id": run.id,
        "sample_id": sample.id,
        "sample_digest": sample.digest,
        "criteria_id": criteria_id,
    }
    yield _result(ResultRow(**common, item=replay_item(sample.id), kind="replay", outcome="made"))
    chance = random.Random(f"{sample.id}")
    ease = chance.random()
    text = Prompts()[chance.randrange(100_000)]
    for number, item in enumerate(plan.items(sample.id)):
        skill = (ease + number / MODELS) / 2
        stated = tuple(chance.random() < 0.6 + skill / 3 for _ in CRITERIA.criteria)
        scores = tuple(1 + sum(chance.random() < skill for _ in range(4)) * is_stated for is_stated in stated)
        keys = [digest("large run", [sample.id, item.name, step]) for step in ("answer", "score")]
        asked, judged = (
            Provenance(call=key, model=model, prompt=prompt, prompt_version=1, prompt_hash="0" * 32)
            for key, model, prompt in zip(keys, (item.model, JUDGE), ("candidate", "checkpoints"), strict=True)
        )
        answer = f"{text[: chance.randrange(ANSWER_LENGTH // 2, ANSWER_LENGTH)]} {item.model}"
        response = Response(sample=sample.digest, **item.place, text=answer, provenance=asked)
        response_row = _value(response)
        verdict = "right" if chance.random() < skill else "wrong"
        final_row = _value(FinalAnswer(response=response_row.row["id"], verdict=verdict, rule="exact", answer="left"))
        judgement = CheckpointScores(
            response=response_row.row["id"],
            criteria=criteria_id,
            scores=scores,
            stated=stated,
            score=weighted_score(scores, CRITERIA.weights),
            provenance=judged,
        )
        judgement_row = _value(judgement)
        share, addressed = addressed_score(scores, stated, CRITERIA.weights)
        result = ResultRow(
            **common,
            **item.place,
            item=item.name,
            kind="score",
            outcome="scored",
            score=judgement.score,
            response_id=response_row.row["id"],
            judgement_id=judgement_row.row["id"],
            final_id=final_row.row["id"],
            verdict=verdict,
            stated=share,
            stated_score=addressed,
            length=len(answer),
            calls=tuple(keys),
        )
        yield from (response_row, final_row, judgement_row, _result(result))
        yield from (_call(key, model) for key, model in zip(keys, (item.model, JUDGE), strict=True))


def _value(value: Value) -> _Written:
    return _Written(table_of(type(value)).name, row_of(value), type(value))


def _result(result: ResultRow) -> _Written:
    row = result.model_dump(mode="json")
    lists = {name: orjson.dumps(row[name]).decode() for name in ("calls", "value_ids")}
    return _Written("results", row | lists)


def _call(key: str, model: str) -> _Written:
    columns = {"key": key, "kind": "chat", "model": f"openai/{model}", "endpoint": "stub", "model_name": model}
    texts = dict.fromkeys(("request", "reply"), "{}") | {"label": "", "reply_digest": "", "finish_reason": "stop"}
    used = {"input_tokens": 600, "output_tokens": 40, "cost": 0.00076, "latency": 1.0, "created_at": now()}
    return _Written("calls", columns | texts | used)


def measure(options: Options) -> Report:
    """Write the run, then draw its report and write its exports, each by a command of its own."""
    samples = options.samples or sized(options, quick=200, usual=SAMPLES)
    models = options.models or sized(options, quick=8, usual=MODELS)
    with scratch() as folder:
        say(f"a run of {models} models and {samples} samples")
        run = asyncio.run(write_large_run(folder, samples=samples, models=models))
        rows: list[dict[str, Any]] = []
        for verb, name in (("report", "report.html"), ("export", "rows.jsonl"), ("export", "rows.csv")):
            say(name)
            rows.append(_command(folder, verb, run, folder / name))
    report, lines, csv = rows
    figures = (
        Figure("report, processor time", report["cpu s"], "s", REPORT_SECONDS, "at most"),
        Figure("report, peak memory", report["peak MB"], "MB"),
        Figure("export to JSON lines, processor time", lines["cpu s"], "s"),
        Figure("export to JSON lines, peak memory", lines["peak MB"], "MB", EXPORT_MB, "at most"),
        Figure("export to CSV, peak memory", csv["peak MB"], "MB", EXPORT_MB, "at most"),
        Figure("answers", samples * models),
    )
    return Report("large_run", figures, tuple(rows))


def _command(folder: Path, verb: str, run: str, output: Path) -> dict[str, Any]:
    """Return what a command took that writes a file from a run: processor time, peak memory and the size of the file."""
    command = [sys.executable, "-m", "dokimasia", verb, run, "-o", output, "--home", folder / "home"]
    command += ["--config", folder / "dokimasia.toml"]
    process = subprocess.Popen(list(map(str, command)), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise BenchmarkFailed(f"{verb} ended with {process.returncode}: {said.decode()[-1000:]}")
    return {
        "command": f"{verb} {output.name}",
        "cpu s": round(usage.ru_utime + usage.ru_stime, 2),
        "peak MB": round(usage.ru_maxrss * 1024 / 1e6, 1),
        "file MB": round(output.stat().st_size / 1e6, 2),
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be told."""
    parser.add_argument("--samples", type=int)
    parser.add_argument("--models", type=int)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    return run_benchmark("large_run", __doc__, measure, arguments, add=add_options)


if __name__ == "__main__":
    raise SystemExit(main())
