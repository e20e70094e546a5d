"""One door to every data set: a path in, a stream of samples and problems out."""

from collections.abc import Iterator
from pathlib import Path

from dokimasia.datasets.formats import FOLDER, Reader, format_of
from dokimasia.datasets.images import MAX_PIXELS
from dokimasia.datasets.lines import Problem
from dokimasia.datasets.samples import samples_of
from dokimasia.domain.ports import BlobStore
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError


def open_dataset(
    path: Path,
    *,
    blobs: BlobStore | None = None,
    allow_fetch: bool = False,
    need_prompt: bool = True,
    prompt: str | None = None,
    limit: int | None = None,
    max_pixels: int = MAX_PIXELS,
    reader: Reader | None = None,
) -> Iterator[Sample | Problem]:
    """Yield the samples of a data set, or everything that is wrong with a row, in order and one row at a time.

    Args:
        path: JSON lines, a VLMEvalKit TSV, Parquet, a folder of images, or what `register_reader` has made known.
        blobs: where image bytes are kept; None only checks them.
        allow_fetch: whether an image's URL is fetched.
        need_prompt: whether a sample without a prompt is a problem.
        prompt: the prompt of samples that have none of their own.
        limit: stop after that many good samples.
        max_pixels: width times height that an image may have.
        reader: reads the path, whatever it is; by default that is found out.

    Raises:
        NotFound: there is nothing at the path.
        DataError: it cannot be read at all: no reader fits, or it is damaged from its beginning.
        ConfigError: its reader needs an extra that is not installed.
    """
    if reader is None:
        name, reader = format_of(path)
        if name == FOLDER and need_prompt and not (prompt or "").strip():
            raise DataError(f"{path} is a folder of images, which ask nothing: give the question for all with --prompt")
    return samples_of(
        reader(path),
        path,
        blobs=blobs,
        allow_fetch=allow_fetch,
        need_prompt=need_prompt,
        prompt=prompt,
        limit=limit,
        max_pixels=max_pixels,
    )
