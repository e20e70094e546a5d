"""What a tool makes of an image, made once for several runs: judges look at the same places, and a PNG takes long to write."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache

import pytest

from dokimasia.agents import looking
from dokimasia.tools.pictures import ToolResult
from dokimasia.tools.registry import Request, perform


@contextmanager
def made_once() -> Iterator[None]:
    """Within it, the same look at the same image is carried out once, whoever takes it."""

    @cache
    def kept(request: Request, images: tuple[tuple[int, bytes], ...]) -> ToolResult:
        return perform(request, dict(images))

    def looked(request: Request, images: Mapping[int, bytes]) -> ToolResult:
        return kept(request, tuple(sorted(images.items())))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(looking, "perform", looked)
        yield
