"""Preference data: pairs of a better and a worse answer, in TRL's format for vision models."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import orjson
from pydantic import BaseModel, Field

from dokimasia.agents.evaluation import question_inputs
from dokimasia.domain.sample import Sample
from dokimasia.runs.reading.exporting import image_files
from dokimasia.storage.home import Home

LINES, COUNTS = "preferences.jsonl", "counts.json"
SAME_TEXT = "same text"


class AnswerOf(NamedTuple):
    """A model's answer: the model's displayed name, and the text."""

    model: str
    text: str


class PreferencePair(NamedTuple):
    """Two answers to a sample, the better one as `chosen`."""

    sample: Sample
    chosen: AnswerOf
    rejected: AnswerOf


class PreferenceCounts(BaseModel):
    """How many pairs there are and how many had the same text, and how many of `counted` are in no pair, by reason."""

    pairs: int
    same_text: int = Field(default=0, serialization_alias=SAME_TEXT)
    counted: str
    left_out: dict[str, int]


def preference_files(
    home: Home, preferences: Iterable[PreferencePair], left_out: Mapping[str, int], counted: str
) -> Mapping[str, bytes]:
    """Return the files by path: `preferences.jsonl`, `counts.json` and `images/`; the same run gives the same bytes.

    A line has `prompt`, `chosen` and `rejected` as messages, `images` as relative paths, and the names of sample and
    models. Pairs of the same two texts on a sample are written once, and pairs of equal texts never.

    Args:
        home: the home of the images.
        preferences: the pairs in the run's order.
        left_out: the number of `counted` in no pair, by reason.
        counted: the unit of `left_out`, such as `answers`.
    """
    lines: dict[tuple[str, str, str], bytes] = {}
    same = 0
    samples: dict[str, Sample] = {}
    for sample, chosen, rejected in preferences:
        if chosen.text.strip() == rejected.text.strip():
            same += 1
            continue
        samples[sample.id] = sample
        lines.setdefault((sample.id, chosen.text, rejected.text), _line(sample, chosen, rejected))
    reasons = {reason: count for reason, count in sorted(left_out.items()) if count}
    counts = PreferenceCounts(pairs=len(lines), same_text=same, counted=counted, left_out=reasons).model_dump(
        by_alias=True
    )
    images = image_files(home, (image for sample in samples.values() for image in sample.images))
    return {
        LINES: b"".join(lines.values()),
        COUNTS: orjson.dumps(counts, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE),
        **images,
    }


def counts_said(data: bytes) -> str:
    """Return a one-line summary of `counts.json`."""
    counts = PreferenceCounts.model_validate_json(data)
    reasons = [f"{count} {reason}" for reason, count in counts.left_out.items()]
    line = f"{counts.pairs} pairs; {sum(counts.left_out.values())} {counts.counted} left out"
    return line + (f": {', '.join(reasons)}" if reasons else "")


def _line(sample: Sample, chosen: AnswerOf, rejected: AnswerOf) -> bytes:
    text = "\n\n".join(question_inputs(sample).values())
    row = {
        "prompt": [
            {"role": "user", "content": [*({"type": "image"} for _ in sample.images), {"type": "text", "text": text}]}
        ],
        "chosen": _message(chosen),
        "rejected": _message(rejected),
        "images": [image.file for image in sample.images],
        "sample": sample.id,
        "chosen_model": chosen.model,
        "rejected_model": rejected.model,
    }
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def _message(answer: AnswerOf) -> list[dict[str, object]]:
    return [{"role": "assistant", "content": [{"type": "text", "text": answer.text}]}]
