"""What everyone is measured on: questions of 2 KB, with an image of 160 KB or none, and criteria that are ready."""

import hashlib
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson

from dokimasia.domain.criterion import CriteriaSet, Criterion
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.methods.evaluation.criteria import FORMAT

PROMPT_BYTES = 2048
IMAGE_BYTES = 160_000
CANDIDATES = 4
CONCURRENCY = 64
JUDGE = "judge"

_VOCABULARY = (
    "above answer arrow average axis balance below between blue board chart circle colour column compare count cup "
    "curve distance door edge every figure first frame green group height label large last left length light line map "
    "mark measure middle number object order other panel part path picture place plate point position question red "
    "region right row scale second shadow shape shelf side sign small square surface table third total tower value "
    "wall weight which width window yellow"
)

CRITERIA = CriteriaSet(
    criteria=(
        Criterion(question="On which side does the light come in?", ground_truth="It falls from the left.", weight=4),
        Criterion(question="Which shelf does the solution count to?", ground_truth="The third one", weight=4),
        Criterion(question="Where does the count begin?", ground_truth="At the door", weight=2),
    )
)


class Workload(NamedTuple):
    """A folder with `data.jsonl`, `criteria.jsonl`, `images/` and the configuration `dokimasia.toml`."""

    folder: Path
    samples: int
    candidates: int

    @property
    def calls(self) -> int:
        """How many calls an evaluation of it takes: each candidate answers, and the judge scores each answer."""
        return 2 * self.samples * self.candidates


def candidates(count: int) -> tuple[str, ...]:
    """Return the candidates' names."""
    return tuple(f"candidate{number}" for number in range(1, count + 1))


def write_workload(
    folder: Path,
    *,
    samples: int,
    url: str,
    candidates_count: int = CANDIDATES,
    image_bytes: int = 0,
    concurrency: int = CONCURRENCY,
    timeout: float = 120.0,
) -> Workload:
    """Write a workload into the folder; the same arguments give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    write_config(folder, url, candidates_count=candidates_count, concurrency=concurrency, timeout=timeout)
    prompts = Prompts()
    criteria = CRITERIA.model_dump(mode="json")
    with open(folder / "data.jsonl", "wb") as data, open(folder / "criteria.jsonl", "wb") as sets:
        for number in range(samples):
            prompt = prompts[number]
            images = (write_image(folder, number, image_bytes),) if image_bytes else ()
            sample = Sample(id=f"s{number:06}", prompt=prompt, images=images)
            line: dict[str, object] = {"id": sample.id, "prompt": prompt}
            if images:
                line["image"] = image_name(number)
            data.write(orjson.dumps(line) + b"\n")
            entry = {
                "format": FORMAT,
                "sample": sample.id,
                "sample_digest": sample.digest,
                "prompt": prompt,
                "chain": None,
                "criteria": criteria,
            }
            sets.write(orjson.dumps(entry) + b"\n")
    return Workload(folder, samples, candidates_count)


def write_config(folder: Path, url: str, *, candidates_count: int, concurrency: int, timeout: float = 120.0) -> None:
    """Write the configuration: the judge and the candidates, all at one endpoint of the stub, by the direct transport."""
    tables = [
        f'[models.{name}]\nmodel = "openai/{name}"\nendpoint = "stub"\napi_base = "{url}"\ntransport = "direct"\n'
        f"max_concurrency = {concurrency}\nstart_concurrency = {concurrency}\n"
        f"timeout = {timeout}\ninput_price = 1.0\noutput_price = 4.0\n"
        'capabilities = ["vision"]\n'
        for name in (JUDGE, *candidates(candidates_count))
    ]
    (folder / "dokimasia.toml").write_text("\n".join(tables))


class Prompts(Sequence[str]):
    """Questions of 2 KB, each its own, in any number."""

    def __init__(self, count: int = 1_000_000) -> None:
        drawn = random.Random(7).choices(_VOCABULARY.split(), k=20_000)
        self._text = " ".join(drawn)
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]  # no slices are needed
        beginning = f"Question {number}. Look at the picture and answer: "
        length = PROMPT_BYTES - len(beginning) - 1
        start = number * 9973 % (len(self._text) - length)
        return f"{beginning}{self._text[start : start + length]}?"


def image_name(number: int) -> str:
    """Return a sample's image, relative to the workload's folder."""
    return f"images/{number:06}.png"


def write_image(folder: Path, number: int, size: int) -> ImageRef:
    """Write a PNG of noise, of about `size` bytes and different for each number; return what it is called by."""
    from PIL import Image

    width = max(1, round((size / 3) ** 0.5))
    path = folder / image_name(number)
    path.parent.mkdir(exist_ok=True)
    noise = random.Random(number).randbytes(width * width * 3)
    Image.frombytes("RGB", (width, width), noise).save(path, compress_level=0)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return ImageRef(sha256=sha256, media_type="image/png", width=width, height=width)


class Pair(NamedTuple):
    """What one answer takes: the candidate's messages, and the judge's on an answer of the length that the stub gives."""

    asked: tuple[tuple[str, str], ...]
    judged: tuple[tuple[str, str], ...]


def pairs(count: int, *, answer: str) -> Iterator[Pair]:
    """Yield the messages of `count` samples as (role, text), word for word as the evaluation sends them."""
    from dokimasia.agents.evaluation import criteria_text
    from dokimasia.prompts import render

    prompts, criteria = Prompts(), criteria_text(CRITERIA)
    for number in range(count):
        question = {"question": prompts[number]}
        asked = render("candidate", question)
        judged = render("checkpoints", {**question, "criteria": criteria, "response": answer})
        yield Pair(
            tuple((message.role, message.text) for message in asked.messages),
            tuple((message.role, message.text) for message in judged.messages),
        )
