"""What the storage tests share: a home, and calls, replies and samples to put into it."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dokimasia.domain.call import Chat, ChatReply, Message, ModelRef, Usage
from dokimasia.domain.criterion import CriteriaSet, Criterion
from dokimasia.domain.sample import ImageRef, Sample, TextPart
from dokimasia.storage.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A new home, open for writing."""
    with Home.open(tmp_path / "home", write=True) as opened:
        yield opened


@pytest.fixture
def chat() -> Callable[..., Chat]:
    """Makes a chat call about a text."""

    def make(text: str, *, system: str = "You are a judge.", name: str = "judge", repeat: int = 0) -> Chat:
        return Chat(
            model=ModelRef(name=name, model="sim/judge", endpoint="sim"),
            messages=(
                Message(role="system", parts=(TextPart(text=system),)),
                Message(role="user", parts=(TextPart(text=text),)),
            ),
            repeat=repeat,
        )

    return make


@pytest.fixture
def reply() -> Callable[..., ChatReply]:
    """Makes a chat reply."""

    def make(text: str, *, usage: Usage | None = None) -> ChatReply:
        known = Usage(input_tokens=11, output_tokens=7)
        return ChatReply(text=text, finish_reason="stop", usage=known if usage is None else usage)

    return make


@pytest.fixture
def image() -> Callable[[bytes], ImageRef]:
    """Makes the reference of an image's bytes."""

    def make(data: bytes) -> ImageRef:
        return ImageRef(sha256=hashlib.sha256(data).hexdigest(), media_type="image/png", width=2, height=3)

    return make


@pytest.fixture
def sample() -> Callable[..., Sample]:
    """Makes a sample of a name."""

    def make(name: str, **fields: object) -> Sample:
        return Sample.model_validate({"id": name, "prompt": f"What is in {name}?", **fields})

    return make


@pytest.fixture
def criteria() -> CriteriaSet:
    """A set of three criteria."""
    return CriteriaSet(
        criteria=tuple(
            Criterion(question=f"What of part {number}?", ground_truth=f"It is {number}.", weight=weight)
            for number, weight in ((1, 5), (2, 3), (3, 2))
        )
    )
