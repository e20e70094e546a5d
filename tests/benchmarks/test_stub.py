"""The stub answers like an endpoint, tells requests apart, and never outlives who started it."""

import json
import urllib.request

import pytest

from benchmarks import stub, workload
from tests.processes import PATIENCE


def _ask(url: str, model: str, text: str) -> str:
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": text}]}).encode()
    with urllib.request.urlopen(f"{url}/chat/completions", data=body, timeout=PATIENCE) as reply:
        return json.load(reply)["choices"][0]["message"]["content"]


def test_answers_depend_on_the_request_and_verdicts_do_not() -> None:
    """Two questions have two answers, the same one has the same; a judge gives three scores, or a grade where it is asked."""
    with stub.running_stub() as running:
        first, again, other = (_ask(running.url, "candidate1", text) for text in ("one", "one", "two"))
        verdict, grade = _ask(running.url, "judge", "one"), _ask(running.url, "judge", "a GRADE")
        stats = running.stats()
    assert first == again != other
    assert verdict.splitlines() == ["1 | score: [4]", "2 | score: [5]", "3 | score: [3]"]
    assert grade == "GRADE: C"
    assert stats["requests"] == 5
    with pytest.raises(OSError, match="refused"):
        _ask(running.url, "judge", "one")


def test_the_spelling_of_json_does_not_hide_the_judge() -> None:
    """A judge is known with and without a space after the colon, wherever the model stands in the body."""
    for body in (
        b'{"model":"judge"}',
        b'{"messages": [], "model": "judge"}',
        b'{"model":"openai/judge","messages":[]}',
    ):
        assert b"score: [4]" in stub.completion(body)
    assert b"score: [4]" not in stub.completion(b'{"model":"candidate1","messages":[]}')


def test_everyone_is_sent_the_same_messages(tmp_path) -> None:
    """The peers' first question and the data file's are the same 2 KB, and the workload is the same each time."""
    work = workload.write_workload(tmp_path / "a", samples=3, url="http://127.0.0.1:1/v1", image_bytes=3000)
    workload.write_workload(tmp_path / "b", samples=3, url="http://127.0.0.1:1/v1", image_bytes=3000)
    for name in ("data.jsonl", "criteria.jsonl", "images/000002.png"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    rows = [json.loads(line) for line in (work.folder / "data.jsonl").read_text().splitlines()]
    pairs = list(workload.pairs(3, answer="It is so."))
    for row, pair in zip(rows, pairs, strict=True):
        assert len(row["prompt"]) == workload.PROMPT_BYTES
        assert row["prompt"] in pair.asked[-1][1]
        assert row["prompt"] in pair.judged[-1][1]
        assert "It is so." in pair.judged[-1][1]
    assert work.calls == 24
