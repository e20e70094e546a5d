"""Logs of Inspect: `.eval` archives, whose sample summaries are read first, and JSON logs."""

import importlib
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile, ZipInfo
from zlib import crc32
from zlib import error as ZlibError

from dokimasia.domain.identity import JsonObject
from dokimasia.errors import ConfigError, DataError, NotFound
from dokimasia.integrations.results import (
    ItemFailure,
    ItemResult,
    ReadOptions,
    ResultsFile,
    as_object,
    category_of,
    checked_rows,
    content_of,
    fields_of,
    image_names,
    images_of,
    objects_of,
    parse_json,
    read_object,
    result_of,
    score_of,
    short_text,
)

HEADER, START, SUMMARIES = "header.json", "_journal/start.json", "summaries.json"
_JOURNAL = re.compile(r"_journal/summaries/(\d+)\.json")
_SAMPLE = re.compile(r"samples/.+\.json")

MAX_MEMBER = 256 * 2**20
"""The maximum number of bytes of an unpacked file in an archive."""

MAX_ARCHIVE = 8 * 2**30
"""The maximum number of bytes unpacked from one archive."""

MAX_WINDOW = 128 * 2**20
"""The maximum number of bytes of memory for unpacking."""

NO_ANSWER = "N"
"""Inspect's grade of an empty or refusing answer."""

REASONS: Mapping[str, ItemFailure] = {
    "refusal": "refused",
    "no_response": "empty",
    "invalid_response_format": "unparsed",
    "grader_failed": "unscored",
    "scoring_failed": "unscored",
}
"""The kinds of failure of Inspect's reasons; other reasons are the scorer's own words."""

_PLACEHOLDER = re.compile(r"\((?:Image|Audio|Video|Document|Data)\)")
"""The placeholder of an image or another medium in the summary of a sample."""

_WORDS_KEPT = 200
"""The characters of each text of a question that identify it; summaries truncate longer ones."""

Details = Callable[[JsonObject], JsonObject | None]
"""Returns a whole sample, given its summary; None if it is not in the log."""


class _Log(NamedTuple):
    header: JsonObject
    samples: Sequence[JsonObject]
    details: Details


def read_inspect(path: Path, options: ReadOptions) -> ResultsFile:
    """Return the results of an Inspect log; in an archive, whole samples are read only if their summary does not
    suffice.

    A score that is not a number (unscored) is a failure with the scorer's reason; each epoch is a repeat.

    Raises:
        NotFound: there is no such file.
        DataError: the file is damaged, too large, or has no such scorer; the message names the part of the archive.
        ConfigError: this Python cannot read the archive's compression.
    """
    if _is_archive(path):
        try:
            with ZipFile(path) as packed:
                return _results(path, _Archive(path, packed).log(), options)
        except (BadZipFile, ZlibError, OSError, EOFError) as error:
            raise DataError(f"{path} is not a readable archive ({error}); was it cut off?") from None
    document = read_object(path)
    samples = document.get("samples")
    if not isinstance(samples, list) or not samples:
        raise DataError(f"{path}: the log holds no samples; log them, or name the log with its samples")
    return _results(path, _Log(document, objects_of(path, samples, "sample"), lambda sample: sample), options)


def _is_archive(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None


class _Archive:
    """The files of an `.eval` archive, with a limit on unpacked bytes."""

    def __init__(self, path: Path, packed: ZipFile) -> None:
        self._path, self._packed = path, packed
        self._names = dict.fromkeys(packed.namelist())
        self._unpacked = 0

    def log(self) -> _Log:
        """Return the header and the summaries; an unfinished log has them in its journal."""
        header = self._read(HEADER if HEADER in self._names else START)
        if SUMMARIES in self._names:
            summaries = self._list(SUMMARIES)
        else:
            parts = sorted((int(match[1]), name) for name in self._names if (match := _JOURNAL.fullmatch(name)))
            summaries = [summary for _, name in parts for summary in self._list(name)]
        if not summaries:
            summaries = [self._read(name) for name in self._names if _SAMPLE.fullmatch(name)]
        if not summaries:
            raise DataError(f"{self._path}: the log holds no samples; did the evaluation get that far?")
        return _Log(header, summaries, self._whole)

    def _whole(self, summary: JsonObject) -> JsonObject | None:
        name = f"samples/{summary.get('id')}_epoch_{summary.get('epoch')}.json"
        if name not in self._names:
            return None
        return self._read(name)

    def _list(self, name: str) -> list[JsonObject]:
        value = parse_json(self._bytes(name), self._place(name))
        if not isinstance(value, list):
            raise DataError(f"{self._place(name)}: not a list of samples")
        return [as_object(entry, self._place(name)) for entry in value]

    def _read(self, name: str) -> JsonObject:
        if name not in self._names:
            raise DataError(f"{self._path} has no {name}, so that it is no Inspect log")
        return as_object(parse_json(self._bytes(name), self._place(name)), self._place(name))

    def _place(self, name: str) -> str:
        return f"{self._path}, {name}"

    def _bytes(self, name: str) -> bytes:
        entry = self._packed.getinfo(name)
        self._unpacked += entry.file_size
        if entry.file_size > MAX_MEMBER or self._unpacked > MAX_ARCHIVE:
            raise DataError(
                f"{self._place(name)}: unpacked it has {entry.file_size:,} bytes, and more than {MAX_MEMBER:,} in a part or "
                f"{MAX_ARCHIVE:,} in all are not read"
            )
        if entry.flag_bits & 1:
            raise DataError(f"{self._place(name)} is encrypted")
        try:
            with self._packed.open(entry) as part:
                return part.read(entry.file_size)
        except NotImplementedError:
            return self._zstandard(entry)

    def _zstandard(self, entry: ZipInfo) -> bytes:
        """Return a part compressed with Zstandard, which `zipfile` reads from Python 3.14 on."""
        place = self._place(entry.filename)
        try:
            zstandard = importlib.import_module("zstandard")
        except ImportError:
            raise ConfigError(
                f"{place} is packed with Zstandard: pip install 'dokimasia[inspect]', or convert the log: "
                "inspect log convert --to json"
            ) from None
        if entry.compress_type != 93:
            raise DataError(f"{place} is packed by method {entry.compress_type}, which is not read")
        with self._path.open("rb") as file:
            file.seek(entry.header_offset)
            local = file.read(30)
            if len(local) < 30 or not local.startswith(b"PK\x03\x04"):
                raise DataError(f"{place}: the archive is damaged")
            file.seek(int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little"), 1)
            packed = file.read(min(entry.compress_size, MAX_MEMBER))
        try:
            unpacking = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW)
            with unpacking.stream_reader(io.BytesIO(packed), read_across_frames=True) as part:
                data = part.read(entry.file_size + 1)
        except zstandard.ZstdError as error:
            raise DataError(f"{place}: the archive is damaged ({error})") from None
        if len(data) != entry.file_size or crc32(data) != entry.CRC:
            raise DataError(f"{place}: the archive is damaged: the part is not as long, or not what, the archive says")
        return data


def _results(path: Path, log: _Log, options: ReadOptions) -> ResultsFile:
    task = fields_of(log.header.get("eval"))
    scorer, key, notes = _scorer(path, log, options.scorer)
    model = options.model or short_text(task.get("model")) or path.stem
    rows = [_row(path, sample, log, model, scorer, key, number) for number, sample in enumerate(log.samples, start=1)]
    version = short_text(fields_of(task.get("packages")).get("inspect_ai"))
    status = log.header.get("status")
    if status not in ("success", None):
        notes = (*notes, f"the log ended as {status!r}, so that items may be missing")
    if key:
        scorer = f"{scorer}/{key}"
    return ResultsFile(path, "inspect", "Inspect", version, scorer, checked_rows(path, rows, unit="sample"), notes)


def _scorer(path: Path, log: _Log, wanted: str | None) -> tuple[str, str, tuple[str, ...]]:
    """Return the name of the scorer to read, the part of its value (empty for all), and a note if there are others."""
    scorers: dict[str, object] = {}
    for sample in log.samples:
        for name, score in _scores(sample).items():
            value = fields_of(score).get("value")
            if name not in scorers or isinstance(value, dict):
                scorers[name] = value
    names = list(scorers)
    headline = short_text(fields_of(fields_of(log.header.get("results")).get("headline")).get("scorer"))
    name, key = wanted or "", ""
    if not name:
        name = headline if headline in names else next(iter(names), "")
    if name not in names:
        name, _, key = name.partition("/")
    if names and name not in names:
        raise DataError(f"{path} has no scorer {name!r}; it has {', '.join(names)}")
    value = scorers.get(name)
    if isinstance(value, dict):
        parts = list(value)
        if not key and len(parts) == 1:
            key = parts[0]
        if key not in parts:
            raise DataError(
                f"{path}: the scorer {name!r} gives several values; choose one: --scorer "
                f"{' or '.join(f'{name}/{part}' for part in parts)}"
            )
    if wanted is not None or len(names) < 2:
        return name, key, ()
    return name, key, (f"scored by {name}; --scorer chooses another of {', '.join(names)}",)


def _scores(sample: JsonObject) -> JsonObject:
    return fields_of(sample.get("scores"))


def _row(path: Path, summary: JsonObject, log: _Log, model: str, scorer: str, key: str, number: int) -> ItemResult:
    place = f"{path}, sample {number}"
    item = short_text(summary.get("id"))
    if not item:
        raise DataError(f"{place}: it has no id")
    score = fields_of(_scores(summary).get(scorer))
    value = score.get("value")
    if key and isinstance(value, dict):
        value = value.get(key)
    recorded = 0.0 if value == NO_ANSWER else score_of(value)
    reason = (
        short_text(score.get("reason")) or short_text(fields_of(score.get("metadata")).get("unscored_reason")) or ""
    )
    metadata = fields_of(summary.get("metadata"))
    images = images_of(metadata)
    error = _error(summary)
    full_sample: JsonObject | None = summary if "messages" in summary else None
    unexplained = not (recorded or score.get("answer") or reason or error)
    if full_sample is None and (unexplained or (not images and _shows_media(summary))):
        full_sample = log.details(summary)
    if full_sample is not None and not images:
        images = _images(full_sample)
    answer, stopped = _answer(score, full_sample)
    kind, why = _failure(value, recorded, reason, error, stopped, summary)
    return result_of(
        item,
        model,
        recorded=recorded,
        answer=answer,
        failure=kind,
        reason=why,
        repeat=int(score_of(summary.get("epoch")) or 1) - 1,
        category=category_of(metadata),
        images=images,
        content=content_of(_question(summary.get("input")), summary.get("target")),
        line=number,
    )


def _failure(
    value: object, recorded: float | None, reason: str, error: str, stopped: str, sample: JsonObject
) -> tuple[ItemFailure | None, str]:
    """Return the kind of a sample's failure (None: the answer's text decides) and its reason in words."""
    if error:
        return "api_error", error
    if recorded:
        return None, ""
    if reason in REASONS:
        return REASONS[reason], reason
    if stopped == "content_filter":
        return "refused", "the provider filtered the answer"
    if recorded is None and reason:
        return _kind_in_words(reason), reason
    if value == NO_ANSWER:
        return None if stopped else "unparsed", "the scorer found no answer"
    limit = sample.get("limit")
    if isinstance(limit, dict):
        limit = limit.get("type")
    if limit:
        return None, f"the limit of {limit} was reached"
    return None, ""


def _kind_in_words(reason: str) -> ItemFailure | None:
    """Return the kind of failure named by a scorer's words; None if there is none."""
    words = reason.lower()
    if "refus" in words:
        return "refused"
    if "empty" in words or "no_answer" in words:
        return "empty"
    if "pars" in words or "format" in words or "invalid" in words:
        return "unparsed"
    return "unscored"


def _error(sample: JsonObject) -> str:
    error = sample.get("error")
    if isinstance(error, dict):
        error = error.get("message")
    return short_text(error) or ""


def _answer(score: JsonObject, full_sample: JsonObject | None) -> tuple[str | None, str]:
    """Return the answer of a sample, untruncated if the sample is, and why the model stopped (empty if unknown)."""
    output = (full_sample or {}).get("output")
    if not isinstance(output, dict):
        return short_text(score.get("answer")), ""
    choices = output.get("choices")
    first = fields_of(choices[0]) if isinstance(choices, list) and choices else {}
    answer = output.get("completion") if first else score.get("answer")
    return short_text(answer), short_text(first.get("stop_reason")) or ""


def _pieces(value: object) -> Iterator[JsonObject]:
    """Yield the pieces of a question: of messages, each text and each medium."""
    contents = [value]
    if isinstance(value, list):
        contents = [fields_of(message).get("content") for message in value]
    for content in contents:
        if isinstance(content, str):
            yield {"type": "text", "text": content}
        elif isinstance(content, list):
            yield from (piece for piece in content if isinstance(piece, dict))


def _question(value: object) -> list[str]:
    texts = [short_text(piece.get("text")) or "" for piece in _pieces(value) if piece.get("type") == "text"]
    return [text[:_WORDS_KEPT] for text in texts if not _PLACEHOLDER.fullmatch(text)]


def _shows_media(sample: JsonObject) -> bool:
    return any(_PLACEHOLDER.fullmatch(short_text(piece.get("text")) or "") for piece in _pieces(sample.get("input")))


def _images(sample: JsonObject) -> list[str]:
    names: list[str] = []
    for piece in _pieces(sample.get("input")):
        if piece.get("type") == "image":
            names += image_names(piece.get("image"))
    return names
