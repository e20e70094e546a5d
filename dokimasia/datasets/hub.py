"""The reader of data sets of the Hugging Face Hub by name, as a stream; requires the extra `hf`."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar, cast

from dokimasia.datasets.images import MAX_BYTES
from dokimasia.datasets.lines import Problem, Row, location, problem_at
from dokimasia.datasets.mapping import mapped_columns
from dokimasia.datasets.parquet import plain_cell, record_row
from dokimasia.domain.hub import SCHEME, HubName, HubPath, hub_name
from dokimasia.errors import ConfigError, DataError, NotFound

T = TypeVar("T")

_COMMIT = re.compile(r"[0-9a-f]{40}")


def pinned(path: Path) -> Path:
    """Return the name of a data set with a commit in place of a branch or a tag; any other path unchanged.

    Raises:
        ConfigError: the extra `hf` is not installed, the name is invalid, or the data set needs a login.
        NotFound: there is no such data set or revision.
        DataError: the Hub cannot be reached.
    """
    if not isinstance(path, HubPath):
        return path
    name = hub_name(path)
    if _COMMIT.fullmatch(name.revision):
        return path
    return HubPath(str(name._replace(revision=_asked(path, lambda: commit_of(name)))))


def commit_of(name: HubName) -> str:
    """Return the commit of a data set's revision, by default of its main branch, according to the Hub."""
    from huggingface_hub import HfApi

    return HfApi().dataset_info(name.data, revision=name.revision or None).sha or name.revision


def read_hub(path: Path, mapping: Mapping[str, str] = MappingProxyType({})) -> Iterator[Row | Problem]:
    """Yield the rows of a data set of the Hub in order, counted from 1, as they arrive.

    Columns are recognised as in Parquet, or named by `mapping`. Images are the columns declared as images; their bytes
    are unchanged. In a data set without ids, row numbers are the ids.

    Raises:
        ConfigError: the extra `hf` is not installed, the name is invalid, or the data set needs a login.
        NotFound: there is no such data set, revision, configuration or split; the message lists the existing ones.
        DataError: the Hub cannot be reached, or the mapping names a missing column.
    """
    name = hub_name(pinned(path))
    stream = _asked(path, lambda: _stream(path, name))
    features: Mapping[str, object] = stream.features or {}
    declared = [column for column, feature in features.items() if _declares_image(feature)]
    number, columns = 0, None
    rows = iter(stream)
    while True:
        try:
            values = _asked(path, lambda: next(rows, None))
        except DataError as error:
            if number == 0:
                raise
            yield problem_at(path, number + 1, f"nothing is read from here on: {error}", "syntax", unit="row")
            return
        if values is None:
            return
        number += 1
        if columns is None:
            header = list(features) or list(values)
            columns = mapped_columns(header, mapping, where=path, images=declared or None)
        cells = {
            column: _loaded(path, value, name, number) if column in columns.images else plain_cell(value)
            for column, value in values.items()
        }
        yield record_row(number, cells, columns, mapping)


def _stream(path: Path, name: HubName) -> Any:
    """Return a split as a stream of rows with undecoded images."""
    datasets = import_module("datasets")
    try:
        splits = datasets.load_dataset(name.data, name.config or None, revision=name.revision, streaming=True)
    except ValueError as error:
        configs: Sequence[str] = datasets.get_dataset_config_names(name.data, revision=name.revision)
        if name.config in configs or (not name.config and len(configs) < 2):
            raise
        wrong = f"no configuration {name.config!r}" if name.config else f"{len(configs)} configurations"
        example = name._replace(config=configs[0], revision="")
        raise NotFound(f"{path}: there is {wrong}; name one of {', '.join(configs)}, as in {example}") from error
    names = [str(split) for split in splits]
    split = name.split or (names[0] if len(names) == 1 else "")
    if split not in names:
        wrong = f"no split {split!r}" if split else f"{len(names)} splits"
        example = name._replace(split=names[0], revision="")
        raise NotFound(f"{path}: there is {wrong}; name one of {', '.join(names)}, as in {example}")
    return splits[split].decode(False)


def _asked(path: Path, ask: Callable[[], T]) -> T:
    """Return the result of Hugging Face's libraries; their errors become the user's, without their addresses."""
    try:
        import huggingface_hub.errors as hub

        faults = import_module("datasets.exceptions")
    except ImportError as error:
        raise ConfigError(
            f"{path}: data sets of the Hugging Face Hub need more packages: pip install 'dokimasia[hf]'"
        ) from error
    # The error of the underlying HTTP library, which differs between versions.
    unreachable = cast("type[Exception]", hub.HfHubHTTPError.__mro__[1])
    try:
        return ask()
    except (NotFound, DataError, ConfigError):
        raise
    except hub.GatedRepoError as error:
        _refuse_gated(path, error)
    except hub.RevisionNotFoundError as error:
        raise NotFound(f"{path}: the data set has no revision {hub_name(path).revision!r}") from error
    except (hub.RepositoryNotFoundError, faults.DatasetNotFoundError) as error:
        if "gated" in str(error).lower():
            _refuse_gated(path, error)
        raise NotFound(
            f"{path}: there is no such data set, or it is private: check its name, or log in with `hf auth login`"
        ) from error
    except (unreachable, hub.OfflineModeIsEnabled, ConnectionError, TimeoutError) as error:
        raise DataError(
            f"{path}: the Hugging Face Hub cannot be reached ({type(error).__name__}); try again, or download the data and "
            "name the file"
        ) from error
    except (faults.DatasetsError, OSError, ValueError, RuntimeError) as error:
        raise DataError(f"{path} cannot be read: {' '.join(str(error).split())[:300]}") from error


def _refuse_gated(path: Path, error: Exception) -> NoReturn:
    data = hub_name(path).data
    raise ConfigError(
        f"{path}: {data} is gated: accept its terms on its page at the Hub, and log in with `hf auth login` or set HF_TOKEN"
    ) from error


def _declares_image(feature: object) -> bool:
    """Return whether a feature is an image or a list of images."""
    inner = feature[0] if isinstance(feature, list) and feature else getattr(feature, "feature", None)
    kind = type(feature).__name__
    return kind == "Image" or (inner is not None and _declares_image(inner))


def _loaded(path: Path, value: object, name: HubName, number: int) -> object:
    """Return an image cell with the bytes of an image that the data set stores in a separate file."""
    if isinstance(value, list):
        return [_loaded(path, part, name, number) for part in value]
    if not isinstance(value, dict) or value.get("bytes") is not None:
        return value
    file = value.get("path")
    # Only files of the data set itself: no row may name another file of the Hub or of this machine.
    if not isinstance(file, str) or not file.startswith(f"{SCHEME}datasets/{name.data}@"):
        return value

    def read() -> bytes:
        import fsspec

        with fsspec.open(file, "rb") as opened:
            return opened.read(MAX_BYTES + 1)  # pyright: ignore[reportAttributeAccessIssue]

    try:
        return {"bytes": _asked(path, read), "path": file.rpartition("/")[2]}
    except DataError as error:
        raise DataError(f"{location(path, number, 'row')}: {error}") from error
