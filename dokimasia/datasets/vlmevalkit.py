"""Judged duels in VLMEvalKit's files: a table of scores for each order of the answers, and ratings of both orders merged.

In `MODEL_Creation_MMBench_score.csv` A is the baseline's answer and B the model's, in `..._rev_score.csv` the reverse;
`..._merged_rating.json` combines both orders, for the model.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import NamedTuple

from dokimasia.datasets.creation import CATEGORIES, category_of
from dokimasia.datasets.lines import Problem, Row, location
from dokimasia.datasets.tables import read_csv
from dokimasia.domain.duel import HIGHEST, LOWEST, REWARD, Place
from dokimasia.domain.identity import JsonObject
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
"""The columns of a table of scores, with the two answers in the order shown: A, then B."""

ENDINGS: dict[Place, str] = {"second": "", "first": "_rev"}
"""The part of a file's name before `_score.csv` and `_rating.json`, by the place of the model's answer."""

NOT_APPLICABLE = "NO_OBJECTIVE"
VERDICTS = {2: "A>>B", 1: "A>B", 0: "A=B", -1: "B>A", -2: "B>>A"}
_READ = {
    **{verdict: value for value, verdict in VERDICTS.items()},
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
_FACTUALITY_NAMES = {"obj_score": "visual_factuality_score", "obj_ref_score": "visual_factuality_ref_score"}
_MERGED_NAMES = {
    "sub_parse_ok": "preference_parse_ok",
    "sub_dist": "preference_dist",
    "sub_reward": "reward",
    "obj_parse_ok": "visual_factuality_parse_ok",
    **_FACTUALITY_NAMES,
}


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """The judgements of a model's answer to a case against the baseline's, by the place of the model's; None for a
    failure.

    `verdicts` are +2 to -2 for the model; `factuality` are its score and the baseline's, 0 to 10, or None if visual
    factuality does not apply to the case.
    """

    id: str
    task: str
    verdicts: Mapping[Place, int | None]
    factuality: Mapping[Place, tuple[float, float] | None] | None
    answer: str = ""
    baseline: str = ""


def scores_table(cases: Iterable[JudgedCase], at: Place) -> Iterator[Sequence[str]]:
    """Yield the rows of a table of scores, its header first, for the model's answers in place `at`."""
    yield COLUMNS
    for case in cases:
        verdict = case.verdicts.get(at)
        answers = (case.answer, case.baseline) if at == "first" else (case.baseline, case.answer)
        preference = "" if verdict is None else VERDICTS[verdict if at == "first" else -verdict]
        factuality = ""
        if case.factuality is None:
            factuality = NOT_APPLICABLE
        elif scores := case.factuality.get(at):
            a, b = _turned(scores, at)
            factuality = f"{float(a)}|{float(b)}"
        yield (case.id, case.task, *answers, "", "", preference, factuality)


@dataclass(slots=True)
class _Tally:
    """Verdicts and scores of cases as in VLMEvalKit's ratings, positive for the model; fields in its order."""

    sub_valid: int = 0
    sub_missing: int = 0
    obj_valid: int = 0
    obj_missing: int = 0
    sub_score: list[int] = field(default_factory=list)
    obj_ref_score: list[float] = field(default_factory=list)
    obj_score: list[float] = field(default_factory=list)

    def add(self, case: JudgedCase, at: Place) -> None:
        """Count a case in one order, as in the table of that order: for B, with A as reference."""
        verdict = case.verdicts.get(at)
        if verdict is None:
            self.sub_missing += 1
        else:
            self.sub_valid += 1
            self.sub_score.append(-verdict if at == "first" else verdict)
        if case.factuality is None:
            return
        scores = case.factuality.get(at)
        if scores is None:
            self.obj_missing += 1
            return
        self.obj_valid += 1
        a, b = _turned(scores, at)
        self.obj_ref_score.append(a)
        self.obj_score.append(b)

    def turned(self) -> "_Tally":
        """Return one order's scores with A and B exchanged."""
        verdicts = [-verdict for verdict in self.sub_score]
        return replace(self, sub_score=verdicts, obj_score=self.obj_ref_score, obj_ref_score=self.obj_score)

    def __add__(self, other: "_Tally") -> "_Tally":
        return _Tally(*(getattr(self, name.name) + getattr(other, name.name) for name in fields(self)))

    def rating(self) -> JsonObject:
        """Return the rating, without parts that have no valid score."""
        rating: JsonObject = {"sub_parse_ok": self.sub_valid / (self.sub_valid + self.sub_missing)}
        if self.sub_valid:
            distribution = {str(verdict): self.sub_score.count(verdict) / self.sub_valid for verdict in range(-2, 3)}
            reward = REWARD * sum(self.sub_score) / self.sub_valid
            rating |= {"sub_dist": distribution, "sub_reward": reward}
        if judged := self.obj_valid + self.obj_missing:
            rating["obj_parse_ok"] = self.obj_valid / judged
        if self.obj_valid:
            score, reference = sum(self.obj_score) / self.obj_valid, sum(self.obj_ref_score) / self.obj_valid
            rating |= {"obj_score": score, "obj_ref_score": reference}
        return rating

    def merged_rating(self) -> JsonObject:
        """Return the rating of both orders together, under the names of a merged rating."""
        rating = {_MERGED_NAMES[name]: value for name, value in self.rating().items()}
        if self.sub_valid:
            rating["win_rate"] = 100 * sum(verdict > 0 for verdict in self.sub_score) / self.sub_valid
        return rating


def ratings(cases: Sequence[JudgedCase]) -> dict[str, JsonObject]:
    """Return the ratings by the endings of their files: of each order, and merged."""
    files: dict[str, JsonObject] = {}
    orders: dict[Place, dict[str, _Tally]] = {}
    for at, ending in ENDINGS.items():
        tallies = orders[at] = _tallies(cases, at)
        rating = {task: tally.rating() for task, tally in tallies.items()}
        files[f"{ending}_rating.json"] = {**rating, "raw": {task: asdict(tally) for task, tally in tallies.items()}}
    by_task = {task: tally + orders["first"][task].turned() for task, tally in orders["second"].items()}
    by_category: dict[str, _Tally] = {}
    for task, tally in by_task.items():
        if category := category_of(task):
            name = _CATEGORY[category]
            by_category[name] = by_category.get(name, _Tally()) + tally
    files["_merged_rating.json"] = {
        **{name: tally.merged_rating() for name, tally in (*by_task.items(), *by_category.items())},
        "raw": _merged_raw(by_task),
        "category_raw": _merged_raw(by_category),
    }
    return files


def _tallies(cases: Iterable[JudgedCase], at: Place) -> dict[str, _Tally]:
    """Return one order's tallies, overall and by task."""
    overall = _Tally()
    tallies = {"overall": overall}
    for case in cases:
        overall.add(case, at)
        tallies.setdefault(case.task, _Tally()).add(case, at)
    return tallies


def _merged_raw(tallies: Mapping[str, _Tally]) -> dict[str, JsonObject]:
    raw: dict[str, JsonObject] = {}
    for name, tally in tallies.items():
        parts = asdict(tally)
        raw[name] = {_FACTUALITY_NAMES.get(part, part): value for part, value in parts.items()}
    return raw


def read_judged(path: Path) -> list[JudgedCase]:
    """Return the cases of both tables of scores, matched by id; `path` is one of them, or the merged rating.

    Raises:
        NotFound: one of the two tables does not exist.
        DataError: a row cannot be used, or a case is in only one of them; with file and line, or id.
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
    for id, row in second.items():
        other = first[id]
        cases.append(
            JudgedCase(
                id=id,
                task=row.task,
                verdicts={"first": other.verdict, "second": row.verdict},
                factuality={"first": other.scores, "second": row.scores} if row.applies and other.applies else None,
                baseline=row.a,
                answer=row.b,
            )
        )
    return cases


class _ScoresRow(NamedTuple):
    """A row of a table of scores: verdict and scores are the model's, `a` and `b` the answers in the order shown."""

    task: str
    verdict: int | None
    scores: tuple[float, float] | None
    applies: bool
    a: str
    b: str


def _table(path: Path, at: Place) -> dict[str, _ScoresRow]:
    rows: dict[str, _ScoresRow] = {}
    for row in read_csv(path):
        if isinstance(row, Problem):
            raise DataError(row.message)
        where = location(path, row.line)
        id = row.fields.get("index")
        if not id:
            raise DataError(f"{where}: the column 'index' is missing or empty")
        if id in rows:
            raise DataError(f"{where}: case {id!r} stands there twice")
        rows[id] = _row(row, where, at)
    return rows


_SCORE_COLUMNS = ("task_name", "subjective_score", "objective_score")


def _row(row: Row, where: str, at: Place) -> _ScoresRow:
    for name in _SCORE_COLUMNS:
        if name not in row.fields:
            raise DataError(f"{where}: there is no column {name!r}")
    cells = {name: cell or "" for name, cell in row.fields.items()}
    task, preference, text = (cells[name] for name in _SCORE_COLUMNS)
    preference, text = preference.strip(), text.strip()
    if preference and preference not in _READ:
        raise DataError(f"{where}: {preference[:20]!r} is no verdict such as A>>B")
    verdict = _READ.get(preference)
    if verdict is not None and at == "second":
        verdict = -verdict
    scores: tuple[float, float] | None = None
    if text not in ("", NOT_APPLICABLE):
        try:
            a, b = map(float, text.split("|"))
        except ValueError as error:
            raise DataError(f"{where}: {text[:20]!r} are no two scores such as 8.0|6.5") from error
        if not (LOWEST <= a <= HIGHEST and LOWEST <= b <= HIGHEST):
            raise DataError(f"{where}: {text[:20]!r} lies outside the scale of {LOWEST:g} to {HIGHEST:g}")
        scores = _turned((a, b), at)
    answers = (cells.get("reference_answer_by_gpt4o", ""), cells.get("prediction", ""))
    return _ScoresRow(task, verdict, scores, text != NOT_APPLICABLE, *answers)


def _turned(scores: tuple[float, float], at: Place) -> tuple[float, float]:
    """Convert scores of model and baseline to those of A and B, or the reverse."""
    first, second = scores
    if at == "first":
        return (first, second)
    return (second, first)
