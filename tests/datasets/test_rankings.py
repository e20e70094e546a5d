"""Human rankings: both forms say the same, ties and gaps are kept, and what cannot be used is named with file and line."""

from pathlib import Path

import pytest

from dokimasia.datasets.annotations import UNNAMED, GivenRanking, read_rankings, unknown_in
from dokimasia.errors import DataError


def write(path: Path, *lines: str) -> Path:
    """Write a file of rankings."""
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_both_forms_are_read(tmp_path: Path) -> None:
    """A ranking of groups and scores come to a score a model, higher is better; an annotator may go unnamed."""
    path = write(
        tmp_path / "r.jsonl",
        '{"id": "s1", "annotator": "eva", "ranking": [["m1"], ["m2", "m3"]], "note": "sure"}',
        '{"id": 7, "scores": {"m1": 4, "m2": 2.5}}',
    )
    assert read_rankings(path) == [
        GivenRanking("s1", "eva", {"m1": 0.0, "m2": -1.0, "m3": -1.0}, 1),
        GivenRanking("7", UNNAMED, {"m1": 4.0, "m2": 2.5}, 2),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "line 1: broken JSON"),
        ('{"ranking": [["m1"]]}', "line 1: the field 'id' is missing"),
        ('{"id": "s", "annotator": " ", "ranking": [["m1"]]}', "line 1: the field 'annotator' is empty"),
        ('{"id": "s"}', "line 1: it has neither a ranking nor scores"),
        ('{"id": "s", "ranking": [["a"]], "scores": {"a": 1}}', "it has both a ranking and scores"),
        ('{"id": "s", "ranking": "a > b"}', "'ranking' is not a list of groups"),
        ('{"id": "s", "ranking": ["a", "b"]}', "group 1 of 'ranking' is not a list of models"),
        ('{"id": "s", "ranking": [["a"], []]}', "group 2 of 'ranking'"),
        ('{"id": "s", "ranking": [["a"], ["a"]]}', "the model 'a' stands there twice"),
        ('{"id": "s", "ranking": [["a", 3]]}', "3 is not the name of a model"),
        ('{"id": "s", "scores": []}', "'scores' is not an object"),
        ('{"id": "s", "scores": {"a": "4"}}', "the score '4' of 'a' is not a finite number"),
        ('{"id": "s", "scores": {"a": true}}', "the score True of 'a'"),
        ('{"id": "s", "scores": {"a": 1, "a": 2}}', "line 1: "),
        ("", "no ranking in it"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, line: str, reason: str) -> None:
    """Every fault names the file, the line and the way out."""
    path = write(tmp_path / "r.jsonl", line)
    with pytest.raises(DataError, match=reason) as refused:
        read_rankings(path)
    assert str(path) in str(refused.value)


def test_one_person_ranks_a_sample_once(tmp_path: Path) -> None:
    """A second line of the same annotator on the same sample names the first; another annotator is welcome."""
    one = '{"id": "s", "annotator": "a", "ranking": [["m1"], ["m2"]]}'
    path = write(tmp_path / "r.jsonl", one, one.replace('"a"', '"b"'), one)
    with pytest.raises(DataError, match=r"line 3: a ranks sample 's' on line 1 already"):
        read_rankings(path)


def test_all_faults_are_named_at_once(tmp_path: Path) -> None:
    """Two bad lines are two faults of one error."""
    path = write(tmp_path / "r.jsonl", '{"id": "s"}', '{"id": "t", "ranking": []}')
    with pytest.raises(DataError, match=r"(?s)line 1.*line 2.*Mend these lines"):
        read_rankings(path)


def test_unknown_samples_and_models_are_named(tmp_path: Path) -> None:
    """What nobody knows, and a response that is not there, is named with file and line."""
    rankings = [
        GivenRanking("s1", "a", {"m1": 1.0, "m2": 0.0}, 1),
        GivenRanking("s9", "a", {"m1": 1.0}, 2),
        GivenRanking("s1", "b", {"m1": 1.0, "nobody": 0.0}, 3),
        GivenRanking("s2", "b", {"m2": 1.0}, 4),
    ]
    answered = {"s1": ["m1", "m2"], "s2": ["m1"]}
    said = [list(unknown_in(one, answered, {"m1", "m2"}, responses="answers.jsonl")) for one in rankings]
    assert said == [
        [],
        ["the data have no sample 's9'"],
        ["answers.jsonl has no response of a model 'nobody'"],
        ["answers.jsonl has no response of m2 to sample 's2'"],
    ]


def test_what_is_unknown_is_named_beside_other_faults(tmp_path: Path) -> None:
    """An unknown sample is named in the same message as lines that cannot be read, in the order of the lines."""
    path = write(
        tmp_path / "r.jsonl",
        '{"id": "s9", "annotator": "eva", "ranking": [["m1"], ["m2"]]}',
        '{"id": "s1", "annotator": "eva", "ranking": []}',
    )
    with pytest.raises(DataError) as refused:
        read_rankings(path, unknown=lambda one: unknown_in(one, {"s1": ["m1"]}, {"m1", "m2"}, responses="a.jsonl"))
    first, second, *_ = str(refused.value).splitlines()
    assert first == f"{path}, line 1: the data have no sample 's9'"
    assert second.startswith(f"{path}, line 2: 'ranking' is not a list")


def test_an_unnamed_annotator_is_nobody_that_is_named(tmp_path: Path) -> None:
    """Lines without an annotator are of one more person than those who are named, whatever these are called."""
    line = '{"id": "s", WHO"ranking": [["m1"], ["m2"]]}'
    named = [line.replace("WHO", f'"annotator": "{who}", ') for who in ("a1", "a2")]
    unnamed = line.replace("WHO", "")
    assert len({one.annotator for one in read_rankings(write(tmp_path / "r.jsonl", *named, unnamed))}) == 3
    with pytest.raises(
        DataError, match="line 2: the annotator without a name ranks sample 's' on line 1 already; say with"
    ):
        read_rankings(write(tmp_path / "r.jsonl", unnamed, unnamed))
