"""Labelled hints as rows of signs, and the logistic model that weighs them."""

import importlib.util
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from dokimasia.algorithms.leaks.check import scene_of
from dokimasia.algorithms.leaks.score import CERTAIN, pieces, rule_forms
from dokimasia.algorithms.leaks.secrets import Secrets
from dokimasia.algorithms.leaks.signs import parts, signs

SETS = Path(__file__).parents[2] / "tests" / "algorithms" / "leak_sets"
AUTHORS = ("known", "blind", "blind_again", "by_author_three", "by_author_four", "by_author_five")
RARE = 3
"""A sign that fewer pieces have than this is left out, and a word that fewer than two authors use."""


class Piece(NamedTuple):
    """A hint or a clause of it, with the rules that it breaks."""

    text: str
    rules: tuple[str, ...]


class Hint(NamedTuple):
    """A labelled hint, its pieces (itself first), and its words as parts of question and secrets."""

    form: str | None
    pieces: tuple[Piece, ...]
    secrets: Secrets
    told: frozenset[str]


def read(author: str | Path) -> list[Hint]:
    """Return one author's hints: of a set of the tests by its name, or of a file with `CASES`."""
    path = author if isinstance(author, Path) else SETS / f"{author}.py"
    spec = importlib.util.spec_from_file_location(f"leak_cases_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found: list[Hint] = []
    for case in module.CASES:
        scene = scene_of(case.question, tuple(case.choices), tuple(case.truths), case.answer)
        cut = tuple(Piece(one, tuple(rule_forms(one, scene.known, scene.answer))) for one in pieces(case.hint))
        found.append(Hint(case.form, cut, scene.secrets, frozenset(parts(case.hint, scene.secrets))))
    return found


def scale(sign: str) -> float:
    """How easily a sign may take weight: what the text as a whole does more easily than a run of words."""
    if sign[:3] in ("c1 ", "c2 ", "c3 "):
        return 0.5 if sign[1] == "3" else 0.7
    if sign[:2] == "3 ":
        return 0.5
    return 1.0 if sign[:2] in ("1 ", "2 ", "3 ", "& ") else 1.5


class Model(NamedTuple):
    """The fitted model: coefficients by sign, intercept, and the words that are kept as themselves."""

    coefficients: dict[str, float]
    intercept: float
    words: frozenset[str]

    def score(self, hint: Hint) -> float:
        """Return the highest score of a hint's pieces; infinite where a sign is certain."""
        best = -np.inf
        for at, told in enumerate(_signs(hint, self.words)):
            if at == 0 and told & CERTAIN:
                return np.inf
            best = max(best, self.intercept + sum(self.coefficients.get(sign, 0.0) for sign in told))
        return float(best)


def _signs(hint: Hint, words: frozenset[str]) -> list[set[str]]:
    found = [signs(piece.text, hint.secrets, words, piece.rules) for piece in hint.pieces]
    found[0].add("whole text")
    return found


def common_words(authors: Sequence[Sequence[Hint]]) -> frozenset[str]:
    """Return the words that at least two authors use, in at least four hints."""
    users: dict[str, set[int]] = defaultdict(set)
    hints: Counter[str] = Counter()
    for number, author in enumerate(authors):
        for hint in author:
            for word in hint.told:
                if word[0].islower():
                    users[word].add(number)
                    hints[word] += 1
    return frozenset(word for word, those in users.items() if len(those) > 1 and hints[word] > 3)


def fit(authors: Sequence[Sequence[Hint]], *, strength: float = 1.0, least: float = 0.0) -> Model:
    """Fit the model: first on whole hints, then on every piece of the clean ones and the likeliest of each leak.

    `least` drops signs whose coefficient is smaller.
    """
    words = common_words(authors)
    hints = [hint for author in authors for hint in author]
    rows: list[dict[str, float]] = []
    bags: list[int] = []
    for number, hint in enumerate(hints):
        for told in _signs(hint, words):
            rows.append({sign: scale(sign) for sign in sorted(told)})
            bags.append(number)
    often = Counter(sign for row in rows for sign in row)
    rows = [{sign: value for sign, value in row.items() if often[sign] >= RARE} for row in rows]
    vectorizer = DictVectorizer()
    table: Any = vectorizer.fit_transform(rows)
    bag = np.array(bags)
    leaks = np.array([hint.form is not None for hint in hints])[bag]
    first = np.r_[True, bag[1:] != bag[:-1]]
    model = _logistic(table[first], leaks[first], np.ones(int(first.sum())), strength)
    scores = model.decision_function(table)
    best = np.full(len(hints), -np.inf)
    np.maximum.at(best, bag, scores)
    used = ~leaks | (scores >= best[bag] - 1e-9)
    weight = np.where(leaks | first, 1.0, 0.5)
    model = _logistic(table[used], leaks[used], weight[used], strength)
    found: Any = model.coef_
    names = vectorizer.get_feature_names_out()
    coefficients = {
        str(name): round(float(value) * scale(str(name)), 3)
        for name, value in zip(names, found[0], strict=True)
        if abs(value * scale(str(name))) >= least
    }
    return Model(coefficients, round(float(np.ravel(model.intercept_)[0]), 3), words)


def _logistic(table: Any, leaks: NDArray[np.bool_], weight: NDArray[np.float64], strength: float) -> LogisticRegression:
    model = LogisticRegression(C=strength, max_iter=3000)
    model.fit(table, leaks, sample_weight=weight)
    return model
