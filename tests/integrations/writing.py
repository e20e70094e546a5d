"""Files as other harnesses write them, from one plan: 24 items on eight images, two models, and every kind of failure."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import openpyxl

LOGS = Path(__file__).parent / "logs"
"""Logs that Inspect itself wrote (0.3.285), without events; `first` and `second` are of one task, `epochs` has two."""

ITEMS = 24
WRONG = {"first": (2, 3, 8, 9, 14, 15, 20), "second": (3, 9)}


class Said(NamedTuple):
    """A planned answer: its text, whether it is right, and its failure (empty for none)."""

    item: int
    text: str
    right: bool
    failure: str = ""


def answers(name: str) -> list[Said]:
    """The planned answers of a model; the first refuses twice, is empty once and fails once, the second is unread once."""
    plan = [Said(number, str(number), number not in WRONG[name]) for number in range(ITEMS)]
    if name == "first":
        plan[5] = Said(5, "", False, "empty")
        plan[6] = Said(6, "I cannot help with that.", False, "refused")
        plan[11] = Said(11, "I'm sorry, but I can't assist with that request.", False, "refused")
        plan[23] = Said(23, "", False, "api_error")
    else:
        plan[7] = Said(7, "??", False, "unparsed")
    return plan


def image(item: int) -> str:
    return f"chart-{item // 3}.png"


def category(item: int) -> str:
    return ("count", "colour", "order")[item % 3]


def write_lines(path: Path, rows: Sequence[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def lmms_eval(folder: Path, name: str, *, nested: bool = False) -> Path:
    """Samples of lmms-eval, flat as 0.7 writes them, or nested as 0.6 does; the run's results are beside them."""
    rows: list[object] = []
    for said in answers(name):
        row: dict[str, object] = {
            "doc_id": said.item,
            "target": str(said.item),
            "filtered_resps": [said.text] if nested else said.text,
            "doc_hash": f"hash-{said.item}",
            "input": f"How many? ({said.item})",
            "input_media": [image(said.item)],
            "bars_score": {"question_id": said.item, "category": category(said.item), "score": float(said.right)},
            "submission": {"id": said.item},
        }
        if said.failure == "unparsed":
            row["resps"] = [[said.text]] if nested else [said.text]
            row["bars_score"] = {"score": 0.0, "parsed_pred": ""}
        rows.append(row)
    place = folder / f"org__{name}"
    path = write_lines(place / "20260801_120000_samples_bars.jsonl", rows)
    if not nested:
        run = {"model_name": f"org/{name}", "lmms_eval_version": "0.7.2", "results": {}}
        (place / "20260801_120000_results.json").write_text(json.dumps(run))
    return path


def vlmevalkit(folder: Path, name: str, *, ending: str = "xlsx") -> Path:
    """A judged file of VLMEvalKit."""
    header = ["index", "question", "answer", "category", "l2-category", "image_path", "prediction", "hit", "log"]
    rows: list[list[object]] = []
    for said in answers(name):
        text, log = said.text, f"Match Log: {said.text}. "
        if said.failure == "api_error":
            text = "Failed to obtain answer via API. "
        if said.failure == "unparsed":
            log = "Match Log: Failed to predict, thus randomly generate one. . "
        hit = 1 if said.right or said.failure == "unparsed" else 0
        where = category(said.item)
        rows.append([said.item, "How many?", str(said.item), where, where, image(said.item), text, hit, log])
    path = folder / name / f"{name}_Bars_judge_result.{ending}"
    path.parent.mkdir(parents=True, exist_ok=True)
    if ending == "xlsx":
        book = openpyxl.Workbook()
        for row in (header, *rows):
            book.active.append(row)  # pyright: ignore[reportOptionalMemberAccess]
        book.save(path)
    elif ending == "json":
        path.write_text(json.dumps([dict(zip(header, row, strict=True)) for row in rows]))
    else:
        with path.open("w", newline="") as file:
            csv.writer(file, delimiter="\t").writerows([header, *rows])
    return path


def promptfoo(folder: Path, names: Sequence[str] = ("first", "second")) -> Path:
    """An output of promptfoo, with a provider for each model."""
    results: list[object] = []
    for number, name in enumerate(names):
        for said in answers(name):
            failed = said.failure == "api_error"
            response: dict[str, object] = {} if failed else {"output": said.text}
            results.append(
                {
                    "testIdx": said.item,
                    "promptIdx": number,
                    "provider": {"id": f"openai:{name}", "label": ""},
                    "prompt": {"raw": "How many?", "label": "How many?"},
                    "vars": {"image": image(said.item), "category": category(said.item), "number": said.item},
                    "response": response | ({"isRefusal": True} if said.failure == "refused" else {}),
                    "error": "429 Too Many Requests" if failed else None if said.right else "Expected another number",
                    "failureReason": 2 if failed else 0 if said.right else 1,
                    "success": said.right,
                    "score": 1 if said.right else 0,
                    "namedScores": {"number": 1 if said.right else 0},
                }
            )
    path = folder / "promptfoo.json"
    document = {
        "evalId": "eval-1",
        "results": {"version": 3, "timestamp": "2026-08-01", "prompts": [], "results": results, "stats": {}},
        "config": {},
        "shareableUrl": None,
        "metadata": {"promptfooVersion": "0.118.0"},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2))
    return path


def openai_evals(folder: Path, name: str) -> Path:
    """A log of OpenAI Evals."""
    rows: list[object] = [{"spec": {"completion_fns": [name], "eval_name": "bars.dev.v0", "run_id": "r"}}]
    for said in answers(name):
        id = f"bars.dev.{said.item}"
        if said.failure == "api_error":
            rows.append({"sample_id": id, "type": "error", "data": {"type": "RateLimitError", "message": "429"}})
            continue
        asked = {"prompt": [{"role": "user", "content": f"How many? ({said.item})"}], "sampled": [said.text]}
        rows.append({"sample_id": id, "type": "sampling", "data": asked})
        verdict = {"correct": said.right, "expected": str(said.item), "picked": said.text}
        rows.append({"sample_id": id, "type": "match", "data": verdict})
        if said.failure == "unparsed":
            rows.append({"sample_id": id, "type": "metrics", "data": {"choice": "__invalid__"}})
    rows.append({"final_report": {"accuracy": 0.5}, "run_id": "r"})
    return write_lines(folder / f"{name}.jsonl", rows)


def table(folder: Path, name: str) -> Path:
    """A CSV file with columns of its own."""
    path = folder / f"{name}.csv"
    folder.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question_no", "picture", "kind", "who", "reply", "points", "went_wrong"])
        for said in answers(name):
            points = "" if said.failure else int(said.right)
            writer.writerow([said.item, image(said.item), category(said.item), name, said.text, points, said.failure])
    return path


TABLE_COLUMNS = "item=question_no,answer=reply,score=points,model=who,image=picture,category=kind,failure=went_wrong"

WRITERS: dict[str, Callable[[Path, str], Path]] = {
    "inspect": lambda folder, name: LOGS / f"{name}.eval",
    "lmms-eval": lmms_eval,
    "vlmevalkit": vlmevalkit,
    "promptfoo": lambda folder, name: promptfoo(folder, [name]),
    "openai-evals": openai_evals,
    "table": table,
}
"""Writers of a planned file by format, or its log."""


def unpacked(path: Path) -> dict[str, object]:
    """The parts of a log, read by the reader's own archive."""
    from dokimasia.integrations import inspect_logs

    with ZipFile(path) as packed:
        archive = inspect_logs._Archive(path, packed)
        return {name: json.loads(archive._bytes(name)) for name in archive._names}
