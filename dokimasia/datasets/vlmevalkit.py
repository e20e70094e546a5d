"""Judged duels in the files that VLMEvalKit keeps of them: a table of scores an order of places, and ratings merged of both.

There A is the baseline's answer and B the model's in `MODEL_Creation_MMBench_score.csv`, and the other way round in
`..._rev_score.csv`; `..._merged_rating.json` takes both orders together, for the model.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dokimasia.datasets.cells import read_csv
from dokimasia.datasets.creative_tasks import CATEGORIES, category_of
from dokimasia.datasets.lines import Problem, Row, place
from dokimasia.domain.duel import HIGHEST, LOWEST, PLACES, REWARD, Place
from dokimasia.errors import DataError

COLUMNS = (
    "index",
    "task_name",
    "reference_answer_by_gpt4o",
    "prediction",
    "subjective_judge",
    "objective_judge",
    "subjective_score",
    "objective_score",
)
"""The columns of a table of scores that its reading goes by, with the two answers as they were shown: A, then B."""

ENDINGS: dict[Place, str] = {"second": "", "first": "_rev"}
"""What stands before `_score.csv` and `_rating.json`, by the place in which the model's answer was shown."""

NOT_APPLICABLE = "NO_OBJECTIVE"
VERDICTS = {2: "A>>B", 1: "A>B", 0: "A=B", -1: "B>A", -2: "B>>A"}
_READ = {
    **{written: value for value, written in VERDICTS.items()},
    "B<<A": 2,
    "B<A": 1,
    "B=A": 0,
    "A<B": -1,
    "A<<B": -2,
}
_CATEGORY = dict(
    zip(
        CATEGORIES,
        (
            "CATEGORY_Literary_Writing",
            "CATEGORY_Common_Functionality_Writing",
            "CATEGORY_Professional_Functionality_Writing",
            "CATEGORY_Creative_Multimodal_Understanding",
        ),
        strict=True,
    )
)
_MERGED_NAMES = {"obj_score": "visual_factuality_score", "obj_ref_score": "visual_factuality_ref_score"}


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """What a judge said of a model's answer to a case beside the baseline's, by the place of the model's; None: it failed.

    `verdicts` are +2 to -2 for the model; `factuality` are its score and the baseline's, 0 to 10, and None as a whole
    where visual factuality does not apply to the case.
    """

    id: str
    task: str
    verdicts: Mapping[Place, int | None]
    factuality: Mapping[Place, tuple[float, float] | None] | None
    answer: str = ""
    baseline: str = ""


def scores_table(cases: Iterable[JudgedCase], at: Place) -> Iterator[Sequence[str]]:
    """Yield the rows of a table of scores, its header first, for the order in which the model's answer stood there."""
    yield COLUMNS
    for case in cases:
        verdict = case.verdicts.get(at)
        shown = (case.answer, case.baseline) if at == "first" else (case.baseline, case.answer)
        said = "" if verdict is None else VERDICTS[verdict if at == "first" else -verdict]
        scores = NOT_APPLICABLE if case.factuality is None else _pair(case.factuality.get(at), at)
        yield (case.id, case.task, *shown, "", "", said, scores)


def ratings(cases: Sequence[JudgedCase]) -> dict[str, dict[str, Any]]:
    """Return the ratings by what their files' names end with: of each order as its own table has it, and merged."""
    raw = {at: _raw(cases, at) for at in PLACES}
    merged = {name: _joined(raw["second"][name], _turned(raw["first"][name])) for name in raw["second"]}
    by_category: dict[str, dict[str, Any]] = {}
    for task, one in merged.items():
        if category := category_of(task):
            found = by_category.get(_CATEGORY[category])
            by_category[_CATEGORY[category]] = one if found is None else _joined(found, one)
    both: dict[str, Any] = {name: _merged(one) for name, one in (*merged.items(), *by_category.items())}
    return {
        **{
            f"{ending}_rating.json": {**{name: _rating(one) for name, one in raw[at].items()}, "raw": raw[at]}
            for at, ending in ENDINGS.items()
        },
        "_merged_rating.json": {**both, "raw": _renamed(merged), "category_raw": _renamed(by_category)},
    }


def read_judged(path: Path) -> list[JudgedCase]:
    """Return the cases of both tables of scores, matched by id, given the path of one of them, or of the merged rating.

    Raises:
        NotFound: one of the two is not there.
        DataError: a row cannot be used, or a case stands in one of them only; with file and line, or id.
    """
    stem = path.name
    for ending in ("_merged_rating.json", "_rev_score.csv", "_score.csv"):
        stem = stem.removesuffix(ending)
    tables = {at: _table(path.with_name(f"{stem}{ending}_score.csv"), at) for at, ending in ENDINGS.items()}
    first, second = tables["first"], tables["second"]
    if lone := sorted(first.keys() ^ second.keys()):
        raise DataError(
            f"{path.with_name(stem)}_score.csv and _rev_score.csv: case {lone[0]!r} stands in one of them only"
        )
    cases: list[JudgedCase] = []
    for id, (task, verdict, scores, texts) in second.items():
        _, other, turned, _ = first[id]
        applies = NOT_APPLICABLE not in (scores, turned)
        factuality = {
            at: one if isinstance(one, tuple) else None for at, one in (("first", turned), ("second", scores))
        }
        cases.append(
            JudgedCase(
                id=id,
                task=task,
                verdicts={"first": other, "second": verdict},
                factuality={at: factuality[at] for at in PLACES} if applies else None,
                baseline=texts[0],
                answer=texts[1],
            )
        )
    return cases


_Read = tuple[str, int | None, tuple[float, float] | str | None, tuple[str, str]]


def _table(path: Path, at: Place) -> dict[str, _Read]:
    found: dict[str, _Read] = {}
    for row in read_csv(path):
        if isinstance(row, Problem):
            raise DataError(row.message)
        where = place(path, row.line)
        id = row.fields.get("index")
        if not id:
            raise DataError(f"{where}: the column 'index' is missing or empty")
        if id in found:
            raise DataError(f"{where}: case {id!r} stands there twice")
        found[id] = _row(row, where, at)
    return found


def _row(row: Row, where: str, at: Place) -> _Read:
    lacking = [name for name in ("task_name", "subjective_score", "objective_score") if name not in row.fields]
    if lacking:
        raise DataError(f"{where}: there is no column {lacking[0]!r}")
    said = (row.fields["subjective_score"] or "").strip()
    if said and said not in _READ:
        raise DataError(f"{where}: {said[:20]!r} is no verdict such as A>>B")
    verdict = None if not said else _READ[said] if at == "first" else -_READ[said]
    text = (row.fields["objective_score"] or "").strip()
    scores: tuple[float, float] | str | None = NOT_APPLICABLE if text == NOT_APPLICABLE else None
    if text and scores is None:
        try:
            first, second = map(float, text.split("|"))
        except ValueError as error:
            raise DataError(f"{where}: {text[:20]!r} are no two scores such as 8.0|6.5") from error
        if not (LOWEST <= first <= HIGHEST and LOWEST <= second <= HIGHEST):
            raise DataError(f"{where}: {text[:20]!r} lies outside the scale of {LOWEST:g} to {HIGHEST:g}")
        scores = (first, second) if at == "first" else (second, first)
    texts = (row.fields.get("reference_answer_by_gpt4o") or "", row.fields.get("prediction") or "")
    return row.fields["task_name"] or "", verdict, scores, texts


def _pair(scores: tuple[float, float] | None, at: Place) -> str:
    """Return two scores as A's and B's."""
    if scores is None:
        return ""
    a, b = scores if at == "first" else scores[::-1]
    return f"{float(a)}|{float(b)}"


def _raw(cases: Iterable[JudgedCase], at: Place) -> dict[str, dict[str, Any]]:
    """Return one order's counts and scores, overall and by task, as its own table has them: for B, with A as reference."""
    found: dict[str, dict[str, Any]] = {"overall": _empty()}
    for case in cases:
        verdict = case.verdicts.get(at)
        scores = None if case.factuality is None else case.factuality.get(at)
        for one in (found["overall"], found.setdefault(case.task, _empty())):
            one["sub_valid" if verdict is not None else "sub_missing"] += 1
            if verdict is not None:
                one["sub_score"].append(-verdict if at == "first" else verdict)
            if case.factuality is None:
                continue
            one["obj_valid" if scores is not None else "obj_missing"] += 1
            if scores is not None:
                model, baseline = scores if at == "second" else scores[::-1]
                one["obj_score"].append(model)
                one["obj_ref_score"].append(baseline)
    return found


def _empty() -> dict[str, Any]:
    counts = dict.fromkeys(("sub_valid", "sub_missing", "obj_valid", "obj_missing"), 0)
    return {**counts, "sub_score": [], "obj_ref_score": [], "obj_score": []}


def _turned(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return one order's scores with the two answers' parts exchanged."""
    return {
        **raw,
        "sub_score": [-one for one in raw["sub_score"]],
        "obj_score": raw["obj_ref_score"],
        "obj_ref_score": raw["obj_score"],
    }


def _joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value + other[name] for name, value in one.items()}


def _rating(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rating of one order; what has no valid score is left out."""
    found: dict[str, Any] = {"sub_parse_ok": raw["sub_valid"] / (raw["sub_valid"] + raw["sub_missing"])}
    if raw["sub_valid"]:
        found["sub_dist"] = {str(one): raw["sub_score"].count(one) / raw["sub_valid"] for one in range(-2, 3)}
        found["sub_reward"] = REWARD * sum(raw["sub_score"]) / raw["sub_valid"]
    if asked := raw["obj_valid"] + raw["obj_missing"]:
        found["obj_parse_ok"] = raw["obj_valid"] / asked
    if raw["obj_valid"]:
        found["obj_score"] = sum(raw["obj_score"]) / raw["obj_valid"]
        found["obj_ref_score"] = sum(raw["obj_ref_score"]) / raw["obj_valid"]
    return found


def _merged(raw: Mapping[str, Any]) -> dict[str, Any]:
    names = {"sub_parse_ok": "preference_parse_ok", "sub_dist": "preference_dist", "sub_reward": "reward"}
    names |= {"obj_parse_ok": "visual_factuality_parse_ok", **_MERGED_NAMES}
    found = {names[name]: value for name, value in _rating(raw).items()}
    if raw["sub_valid"]:
        found["win_rate"] = 100 * sum(one > 0 for one in raw["sub_score"]) / raw["sub_valid"]
    return found


def _renamed(raw: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {task: {_MERGED_NAMES.get(name, name): value for name, value in one.items()} for task, one in raw.items()}
