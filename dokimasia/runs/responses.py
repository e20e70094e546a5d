"""Existing answers: the files that `--responses` names, checked against a run's samples."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

from pydantic import BeforeValidator

from dokimasia.datasets import GivenResponse, dataset_of_predictions, name_and_file, named_file, read_responses
from dokimasia.domain.call import STORED, ModelRef, ModelSpec
from dokimasia.domain.identity import digest
from dokimasia.domain.judgement import Response
from dokimasia.domain.ports import ValueStore
from dokimasia.domain.sample import Sample
from dokimasia.domain.wording import has_or_have, shortened
from dokimasia.errors import ConfigError, DataError
from dokimasia.report.figures import several
from dokimasia.runs.figures import is_simulated
from dokimasia.runs.plans import AnswerItem
from dokimasia.runs.requests import DataRequest, Option, RunRequest

Q = TypeVar("Q", bound=RunRequest)


def _files(files: object) -> object:
    """Return one file, or none, as the files that a request names."""
    if files is None:
        return ()
    if isinstance(files, str | Path):
        return (files,)
    return files


def _named_files(files: Sequence[str | Path]) -> tuple[Path, ...]:
    return tuple(map(named_file, files))


ResponsesFiles = Annotated[
    tuple[Path, ...],
    BeforeValidator(_files),
    Option(metavar="[NAME=]FILE", repeated=True, read=_named_files),
]
"""The option that names such files, one each, and whose answers a file has if it does not say so."""


class Responses(NamedTuple):
    """The answers of all files by sample id, model and repeat, the files' names, and their hash."""

    path: str
    given: Mapping[tuple[str, str, int], GivenResponse]
    hash: str

    @property
    def models(self) -> tuple[str, ...]:
        """The models that the files have answers of, in their order."""
        return tuple(dict.fromkeys(model for _, model, _ in self.given))

    def stored(self, names: Sequence[str]) -> list[str]:
        """Return the models whose answers come from the files: the named ones, or all if none of them is named."""
        return [name for name in names if name in self.models] or list(self.models)

    def live(self, names: Sequence[str]) -> list[str]:
        """Return the named models without answers in the files, which have to be asked."""
        return [name for name in names if name not in self.models]

    @property
    def repeats(self) -> int:
        """The number of repeats in the files."""
        return 1 + max(repeat for _, _, repeat in self.given)

    async def kept(self, sample: Sample, item: AnswerItem, store: ValueStore) -> str | None:
        """Store the answer of an item, and return its id; None if the files lack that repeat."""
        response = self.given.get((sample.id, item.model, item.repeat))
        if response is None:
            return None
        return await store.put(Response(sample=sample.digest, **item.place, text=response.text))


class Candidates(NamedTuple):
    """The candidates of a run with existing answers, and notes on skipped answers."""

    models: tuple[ModelSpec, ...]
    left_out: list[str]


def without_predictions(request: Q) -> tuple[Q, str]:
    """Return a request whose data are not predictions, and a note on what changed; empty if nothing did.

    If the data are VLMEvalKit's predictions, the TSV next to them becomes the data, and the predictions become
    responses.

    Raises:
        ConfigError: the data are predictions, and the method does not take responses.
    """
    if not isinstance(request, DataRequest):
        return request, ""
    predictions = request.data
    tsv = dataset_of_predictions(predictions)
    if tsv is None:
        return request, ""
    responses = getattr(request, "responses", None)
    if not isinstance(responses, tuple):
        raise ConfigError(f"{predictions} has a model's predictions on {tsv.name}: give {tsv}, which has the questions")
    answer_files = responses if predictions in responses else (predictions, *responses)
    changed = request.model_copy(update={"data": tsv, "responses": answer_files})
    return (
        changed,
        f"{predictions.name} has a model's predictions on {tsv.name}: the data are {tsv}, these its responses",
    )


def read_answer_files(paths: Sequence[Path], data: Path | None = None) -> Responses | None:
    """Return the answers of all files together, None without files; `data` is the data set they answer.

    Raises:
        DataError: a file cannot be read, contains no answer, or repeats a sample, model and repeat of another.
    """
    if not paths:
        return None
    responses: dict[tuple[str, str, int], GivenResponse] = {}
    twice: list[str] = []
    for path in paths:
        for answer in read_responses(path, "" if data is None else data.stem):
            first = responses.setdefault((answer.sample_id, answer.model, answer.repeat), answer)
            if first is not answer:
                twice.append(
                    f"{answer.place}: {answer.model} already answers sample {answer.sample_id!r}, repeat {answer.repeat}, "
                    f"in {first.place}"
                )
    if twice:
        raise DataError(f"{_joined(twice)}\n(leave one of the two files, or the answers in one of them, out)")
    hashes = [hashlib.sha256(name_and_file(path)[1].read_bytes()).hexdigest()[:32] for path in paths]
    return Responses(
        files_text(paths), responses, hashes[0] if len(hashes) == 1 else digest("responses", sorted(hashes))
    )


def files_text(paths: Sequence[Path]) -> str:
    """Return the name of answer files in a message."""
    return " and ".join(str(name_and_file(path)[1]) for path in paths)


def candidates_of(
    responses: Responses | None,
    request: DataRequest,
    *,
    models: Sequence[str],
    samples: Collection[str],
    others: Collection[str] = (),
    sparse: bool = False,
    ask: Callable[[Sequence[str]], tuple[ModelSpec, ...]],
) -> Candidates:
    """Return the models with existing answers, which must cover every sample, and the named models to be asked.

    Args:
        responses: the files' answers; without any, the named models are asked.
        request: states how much of the data is used, and how unusable lines are handled.
        models: the named models: those of the files, or all of the files if none of them is named, and those to ask.
        samples: the run's samples, by name.
        others: samples of the data that the run leaves out.
        sparse: whether one answered sample per model suffices.
        ask: returns models to be asked, by their names.

    Raises:
        DataError: a model lacks an answer, or an answer is to a sample that is not in the data.
        ConfigError: a named model is neither in the files nor known.
    """
    if responses is None:
        return Candidates(ask(models), [])
    given = responses.given
    strangers = [] if request.takes_part else _strangers(given.values(), {*samples, *others})
    chosen, live = responses.stored(models), responses.live(models)
    try:
        asked = ask(live)
    except ConfigError as error:
        raise ConfigError(f"{error}; {responses.path} has answers of {shortened(responses.models, 3)}") from error
    missing = {model: [id for id in samples if (id, model, 0) not in given] for model in chosen}
    lacks = [
        f"{model} has no answer to {len(ids)} of {several(len(samples), 'sample')} ({shortened(ids, 3)})"
        for model, ids in missing.items()
        if ids and not (sparse and len(ids) < len(samples))
    ]
    if lacks:
        raise DataError(
            f"{responses.path}: {'; '.join(lacks)}; "
            f"add them, {'choose models with --models, ' if len(responses.models) > 1 else ''}or shorten the data with --limit"
            + (f"\n{_joined(strangers)}" if strangers else "")
        )
    if strangers and request.on_bad_sample == "fail":
        raise DataError(
            f"{_joined(strangers)}\n(mend the ids, give the data that the answers are to, or leave these answers out with "
            "--on-bad-sample skip)"
        )
    return Candidates((*asked, *specs_of(chosen, given.values())), strangers)


def repeats_of(repeats: int, responses: Responses | None, candidates: Iterable[ModelSpec]) -> int:
    """Return the number of a run's answers per model and sample: the larger of the files' and the requested repeats."""
    if responses is None:
        return repeats
    has_live = any(spec.ref.endpoint != STORED for spec in candidates)
    if has_live:
        return max(repeats, responses.repeats)
    return responses.repeats


def specs_of(models: Iterable[str], responses: Iterable[GivenResponse]) -> tuple[ModelSpec, ...]:
    """Return the specs of models with existing answers; those of simulated answers belong to `sim/`, whatever their
    names.
    """
    fake = {response.model for response in responses if response.simulated and not is_simulated(response.model)}
    return tuple(
        ModelSpec(ref=ModelRef(name=model, model=f"sim/{model}" if model in fake else model, endpoint=STORED))
        for model in models
    )


def check_no_blind_arm(no_image: bool) -> None:
    """Refuse an arm without the image together with existing answers.

    Raises:
        ConfigError: the arm is requested.
    """
    if no_image:
        raise ConfigError("--blind-arm asks the candidates anew, which --responses does not; leave one of them out")


def check_unchanged(paths: Sequence[Path], data: Path, hashed: str | None, run: str) -> None:
    """Check that a run's answer files are unchanged since it was accepted.

    Raises:
        DataError: one has changed.
    """
    responses = read_answer_files(paths, data)
    if responses is not None and responses.hash != hashed:
        raise DataError(
            f"{responses.path} {has_or_have(len(paths))} changed since run {run} was accepted; "
            "give the command that began it as a new run"
        )


def _strangers(responses: Iterable[GivenResponse], samples: Collection[str]) -> list[str]:
    """Return messages on answers to unknown samples."""
    return [
        f"{response.place}: the data have no sample {response.sample_id!r}"
        for response in responses
        if response.sample_id not in samples
    ]


def _joined(lines: list[str]) -> str:
    shown = lines[:3]
    if len(lines) > 3:
        shown.append(f"and {len(lines) - 3:,} more")
    return "\n".join(shown)
