"""Agreement of people and judges: what is planted is found, what there is none of says why, and decisions replace."""

import json
import math
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from dokimasia.algorithms.pairwise import to_category
from dokimasia.algorithms.statistics.agreement import cohen_kappa
from dokimasia.datasets.annotations import read_annotations, read_rankings
from dokimasia.domain.annotation import Annotation, AnnotationUnit
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, DataError, InputError
from dokimasia.people.annotation import (
    adjudicate,
    disagreements,
    hand_out,
    rankings_of,
    read_forms,
    read_key,
    responses_of,
    usual_disagreement,
    written,
)
from dokimasia.people.annotation.agreement import ONE_PERSON, agreement_figures
from dokimasia.people.annotation.rated import put_together
from dokimasia.people.annotation.subjects import draw
from dokimasia.report.fields import as_json
from dokimasia.runs.measures import agreement_coefficient, coefficient_limits
from dokimasia.simulation.people import PEOPLE, SimulatedPerson, rating_chances, rating_of
from dokimasia.simulation.truths.people import expected_agreement
from dokimasia.storage.memory import MemoryBlobs

SHARES = (0.2, 0.3, 0.2, 0.2, 0.1)
JUDGE = SimulatedPerson("judge", noise=0.3, careless=0.1)
ENDS = {"verdict": (-2, 2)}


def verdicts(n: int) -> tuple[list[Annotation], dict[AnnotationUnit, float]]:
    """Return what simulated people and a judge say of n pairs."""
    rng = random.Random(5)
    units = [AnnotationUnit(f"s{number}", "verdict", "m", "b") for number in range(n)]
    truths = [rng.choices(range(-2, 3), SHARES)[0] for _ in units]
    annotations = [
        Annotation(unit, person.name, rating_of(person, true, -2, 2, unit.id), cluster=f"image {int(unit.id[1:]) % 30}")
        for unit, true in zip(units, truths, strict=True)
        for person in PEOPLE
    ]
    judged = {unit: float(rating_of(JUDGE, true, -2, 2, unit.id)) for unit, true in zip(units, truths, strict=True)}
    return annotations, judged


@pytest.mark.full
def test_planted_agreement_is_found() -> None:
    """Over 1,500 pairs every coefficient is the enumerated one, within what so many pairs allow."""
    annotations, judged = verdicts(1500)
    found = agreement_figures(put_together(annotations), {"judge": judged}, ENDS)["verdict"]
    truth = expected_agreement(SHARES, PEOPLE, JUDGE, low=-2, high=2)
    judge, people, chance = found.judges["judge"], found.together, found.chance_corrected
    assert judge.mae is not None
    assert people is not None
    assert people.mae is not None
    assert chance is not None
    for name, value in {
        "judge mae": judge.mae.mean,
        "judge consistency": judge.consistency.share,
        "judge kappa": judge.kappa.value,
        "people mae": people.mae.mean,
        "people consistency": people.consistency.share,
        "people kappa": people.kappa.value,
        "pair kappa": found.pairs[0].kappa.value,
        "fleiss": chance.fleiss.value,
        "alpha nominal": chance.alpha_nominal.value,
        "alpha ordinal": chance.alpha_ordinal.value,
        "alpha interval": chance.alpha_interval.value,
    }.items():
        assert value == pytest.approx(truth[name], abs=0.05), name
    assert (found.coverage, judge.coverage, judge.n) == (1.0, 1.0, 1500)


def test_what_people_can_say_adds_up() -> None:
    """The chances of each true rating sum to one, and a faultless person says what is true."""
    for person in (*PEOPLE, JUDGE):
        assert all(math.isclose(sum(row), 1) for row in rating_chances(person, -2, 2))
    assert rating_of(SimulatedPerson("sure"), 1, -2, 2, "any") == 1


def test_one_annotator_has_nobody_to_be_compared_with() -> None:
    """With one person the judge is compared, and the figures of people with each other say why they are absent."""
    annotations, judged = verdicts(30)
    alone = [one for one in annotations if one.annotator == "anna"]
    found = agreement_figures(put_together(alone), {"judge": judged}, ENDS)["verdict"]
    assert (found.absent, found.together, found.chance_corrected) == (ONE_PERSON, None, None)
    mae = found.judges["judge"].mae
    assert mae is not None
    assert mae.mean > 0
    apart = [*alone[:15], *(one for one in annotations if one.annotator == "ben")][:16]
    units = {one.unit for one in apart[:15]}
    apart = [one for one in apart if one.annotator == "anna" or one.unit not in units]
    found = agreement_figures(put_together(apart), {}, ENDS)["verdict"]
    assert found.absent


def test_missing_annotations_leave_alpha_and_not_fleiss() -> None:
    """Where some are missing alpha is there, Fleiss' kappa says why not, and coverage counts them."""
    annotations, _ = verdicts(60)
    some = [one for number, one in enumerate(annotations) if number % 7]
    found = agreement_figures(put_together(some), {}, ENDS)["verdict"]
    assert found.chance_corrected is not None
    assert "same number of ratings" in (found.chance_corrected.fleiss.no_value or "")
    assert found.chance_corrected.alpha_interval.low is not None
    assert found.coverage == pytest.approx(len(some) / 240, abs=1e-6)


def test_too_little_has_no_interval_and_no_kappa() -> None:
    """One image says nothing of how images differ, and people who always say the same have no kappa; both say why."""
    same = [
        Annotation(AnnotationUnit("s", "verdict", model, "b"), who, 1.0) for who in ("anna", "ben") for model in "xyz"
    ]
    found = agreement_figures(put_together(same), {}, ENDS)["verdict"]
    assert "one and the same category" in (found.pairs[0].kappa.no_value or "")
    different = [one._replace(value=float("xyz".index(one.unit.model) - 1)) for one in same]
    found = agreement_figures(put_together(different), {}, ENDS)["verdict"]
    assert as_json(found.pairs[0].kappa) == {"value": 1.0, "low": None, "high": None, "no_interval": "one cluster"}


def test_few_images_widen_what_leans() -> None:
    """With twelve images the ends of kappa hold those of the plain jackknife and reach further down."""
    first, second = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 5, 1], [1, 2, 3, 4, 5, 1, 2, 3, 5, 5, 5, 4]

    def kappa(use: Sequence[int]) -> float:
        return cohen_kappa([first[at] for at in use], [second[at] for at in use], weights="quadratic")

    plain, found = coefficient_limits(kappa, 12, range(12)), agreement_coefficient(kappa, range(12), range(12))
    assert found.low < plain["low"] - 0.1
    assert found.high >= plain["high"]
    assert found.value == pytest.approx(kappa(range(12)), abs=1e-6)


def test_means_go_to_the_nearest_category() -> None:
    """Halves go towards the middle, and what lies outside of the scale is refused."""
    assert [to_category(value, 1, 5) for value in (1.5, 2.5, 3.5, 4.5, 4.6, 5)] == [2, 3, 3, 4, 5, 5]
    with pytest.raises(ValueError, match="outside"):
        to_category(5.2, 1, 5)


def test_a_decision_replaces_and_keeps_what_was_said(tmp_path: Path) -> None:
    """An adjudicated value is what judges are held against; people with each other are told by what they said before."""
    unit, other = AnnotationUnit("s", "verdict", "m", "b"), AnnotationUnit("t", "verdict", "m", "b")
    before = [Annotation(unit, "anna", 2.0), Annotation(unit, "ben", -1.0), Annotation(other, "anna", 1.0)]
    listed = disagreements(before, more_than=1)
    assert [(row["id"], row["said"]) for row in listed] == [("s", "anna: 2, ben: -1")]
    assert disagreements(before, more_than=3) == []
    file = tmp_path / "decided.jsonl"
    line = {"id": "s", "model": "m", "baseline": "b", "annotator": "carla", "value": 1}
    empty = {**line, "id": "t", "annotator": None, "value": None}
    file.write_text(f"{json.dumps(line)}\n{json.dumps(empty)}\n")
    after = adjudicate(before, file)
    (rated, _) = put_together(after)
    assert (rated.reference, dict(rated.said)) == (1.0, {"anna": 2.0, "ben": -1.0})
    kept = tmp_path / "all.csv"
    kept.write_bytes(written(after, kept))
    assert put_together(read_annotations(kept)) == put_together(after)
    assert disagreements(after, more_than=1) == []
    for wrong, told in (
        ({"annotator": "anna"}, "anna has rated"),
        ({"id": "u"}, "nobody rated"),
    ):
        file.write_text(json.dumps({**line, **wrong}))
        with pytest.raises(DataError, match=told):
            adjudicate(before, file)
    file.write_text(json.dumps(line))
    with pytest.raises(DataError, match="decided by carla already"):
        adjudicate(after, file)


SAMPLES = [Sample(id=f"s{number}", prompt=f"Question {number}?", category="xy"[number % 2]) for number in range(12)]
ANSWERS = {(sample.id, model): f"{model} on {sample.id}" for sample in SAMPLES for model in ("m1", "m2", "base")}


def test_forms_are_blind_and_come_back_as_whose_they_are(tmp_path: Path) -> None:
    """Nothing that is handed out names a model or is alike for two people, and filled forms are read to the model's side."""
    blind = {pair: f"answer {number}" for number, pair in enumerate(ANSWERS)}
    drawn = hand_out(
        responses_of(SAMPLES, blind, baseline="base"),
        source="answers.jsonl", annotators=("anna", "ben"), folder=tmp_path / "forms", key=None,
        blobs=MemoryBlobs(), per=2, seed=1,
    )  # fmt: skip
    assert (drawn.cases, drawn.items, drawn.naming) == (4, 8, {})
    head, items = read_key(drawn.key)
    assert {one.swapped for one in items.values()} == {True, False}
    for path in (tmp_path / "forms").rglob("*"):
        if path.is_file():
            text = path.read_text()
            assert not any(name in text for name in ("m1", "m2", 'base"', 's1"')), path
    lines = {
        who: [json.loads(line) for line in (tmp_path / f"forms/{who}/items.jsonl").read_text().splitlines()]
        for who in ("anna", "ben")
    }
    assert [row["question"] for row in lines["anna"]] != [row["question"] for row in lines["ben"]]
    assert not {row["item"] for row in lines["anna"]} & {row["item"] for row in lines["ben"]}
    form = tmp_path / "anna.csv"
    rows = [
        f"{row['item']},{'Left  better' if 'answer' in row['left'] and number % 2 else 'right much better'},"
        for number, row in enumerate(lines["anna"])
    ]
    form.write_text("item,verdict,comment\n" + "\n".join(rows[:-1]) + f"\n{lines['anna'][-1]['item']},,\n")
    found = read_forms(head, items, [form])
    assert (len(found.annotations), found.waiting) == (7, 9)
    for one, row in zip(found.annotations, lines["anna"], strict=False):
        left = 1 if one.line % 2 else -2
        better = row["left"] if left > 0 else row["right"]
        assert (one.value > 0) == (better == blind[one.unit.id, one.unit.model])
        assert abs(one.value) == abs(left)


def test_responses_are_ranked_blind_and_read_as_rankings(tmp_path: Path) -> None:
    """Letters are drawn for each annotator, and the file that is read back is one of rankings, with ties and decisions."""
    blind = {pair: f"answer {number}" for number, pair in enumerate(ANSWERS)}
    drawn = hand_out(
        rankings_of(SAMPLES, blind),
        source="answers.jsonl",
        annotators=("anna", "ben"),
        folder=tmp_path / "forms",
        key=None,
        blobs=MemoryBlobs(),
        per=2,
        seed=1,
    )
    assert (drawn.cases, drawn.items) == (4, 4)
    head, items = read_key(drawn.key)
    assert len({one.models for one in items.values()}) > 1
    assert '"kind":"ranking"' in (tmp_path / "forms/anna/annotate.html").read_text().replace(" ", "")
    forms: list[Path] = []
    for who in ("anna", "ben"):
        rows = [json.loads(line) for line in (tmp_path / f"forms/{who}/items.jsonl").read_text().splitlines()]
        form = tmp_path / f"{who}.jsonl"
        lines: list[dict[str, str]] = []
        for row in rows:
            numbers = [int(text.removeprefix("answer ")) for text in row["responses"]]
            places = {f"place_{'abc'[at]}": str(1 + (number % 3 > 0)) for at, number in enumerate(numbers)}
            lines.append({"item": row["item"], **places})
        form.write_text("".join(json.dumps(line) + "\n" for line in lines))
        forms.append(form)
    found = read_forms(head, items, forms)
    assert (len(found.annotations), found.waiting) == (4 * 2 * 3, 0)
    said = tmp_path / "said.jsonl"
    said.write_bytes(written(found.annotations, said))
    rankings = read_rankings(said)
    assert len(rankings) == 8
    assert all(one.scores == {"m1": -1, "m2": -2, "base": -2} for one in rankings)
    decision = json.loads(said.read_text().splitlines()[0])
    decided = {**decision, "model": "m2", "annotator": "carla", "value": 1, "adjudicates": True}
    said.write_text(said.read_text() + json.dumps(decided) + "\n")
    changed = [one.scores for one in read_rankings(said) if one.sample_id == decision["id"]]
    assert changed == [{"m1": -1, "m2": -1, "base": -2}] * 2


def test_a_ranking_needs_several_responses(tmp_path: Path) -> None:
    """One response cannot be ranked, nor can those of a model without any."""
    with pytest.raises(InputError, match="2 to 8 models"):
        rankings_of(SAMPLES, ANSWERS, models=["m1"])
    with pytest.raises(InputError, match="no response of 'm9'"):
        rankings_of(SAMPLES, ANSWERS, models=["m1", "m9"])


def test_wrong_forms_are_refused(tmp_path: Path) -> None:
    """A choice that there is not, an item that the key does not know, one that stands twice: each with file and line."""
    drawn = hand_out(
        responses_of(SAMPLES, ANSWERS, models=["m1"]),
        source="x", annotators=("anna",), folder=tmp_path / "forms", key=tmp_path / "key.jsonl",
        blobs=MemoryBlobs(), per=None, seed=0, scale=(1, 10),
    )  # fmt: skip
    assert drawn.naming == {"m1": 12}, "who collects is told that responses name their model"
    head, items = read_key(tmp_path / "key.jsonl")
    one = next(iter(items))
    form = tmp_path / "anna.jsonl"
    rows = [{"item": one, "score": 11}, {"item": "nobody", "score": 1}, {"item": one, "score": 1}]
    form.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DataError) as refused:
        read_forms(head, items, [form])
    told = str(refused.value).splitlines()
    assert "line 1" in told[0]
    assert "score is '11'" in told[0]
    assert "no item 'nobody'" in told[1]
    assert "stands in" in told[2]
    form.write_text(json.dumps({"item": one, "score": None}))
    with pytest.raises(DataError, match="no choice in it"):
        read_forms(head, items, [form])
    with pytest.raises(DataError, match="a key is what"):
        read_key(form)


def labelled(folder: Path, cell: str, item: int = 0) -> list[Annotation]:
    """Return what a form with one filled cell comes to, of answers that are right or wrong."""
    drawn = hand_out(
        responses_of(SAMPLES, ANSWERS, models=["m1"]),
        source="x", annotators=("anna",), folder=folder / "forms", key=None,
        blobs=MemoryBlobs(), per=None, seed=0, scale=(0, 1),
    )  # fmt: skip
    head, items = read_key(drawn.key)
    form = folder / "anna.csv"
    form.write_text(f"item,score\n{list(items)[item]},{cell}\n")
    return read_forms(head, items, [form]).annotations


@pytest.mark.parametrize(("cell", "value"), [("1.0", 1), ("0.0", 0), ("1", 1), ("Yes", 1), ("wrong", 0)])
def test_labels_survive_a_spreadsheet(cell: str, value: int, tmp_path: Path) -> None:
    """A whole number that a table wrote with a decimal, and the words of the form, are read."""
    assert [rating.value for rating in labelled(tmp_path, cell)] == [value]


@pytest.mark.parametrize("cell", ["1.5", "0.01", "maybe"])
def test_a_refused_label_names_the_words_that_are_accepted(cell: str, tmp_path: Path) -> None:
    """Numbers between the steps are no labels, and the refusal says what is."""
    with pytest.raises(DataError, match=r"one of: 0 \(or no, wrong\), 1 \(or yes, right\)"):
        labelled(tmp_path, cell)


def test_names_in_forms_are_texts_to_every_spreadsheet_and_older_keys_are_read(tmp_path: Path) -> None:
    """A name begins with letters and no month; a form of an older key, named by hexadecimal digits, is still read."""
    labelled(tmp_path, "1")
    key = tmp_path / "forms.key.jsonl"
    head, items = read_key(key)
    assert all(re.fullmatch("item-[0-9a-f]{10}", name) for name in items)
    older = tmp_path / "older.key.jsonl"
    name = next(iter(items))
    older.write_text(key.read_text().replace(name, "1310329e63"))
    form = tmp_path / "older.csv"
    form.write_text("item,score\n1310329e63,1\n")
    read = read_forms(*read_key(older), [form]).annotations
    assert [rating.unit for rating in read] == [items[name].unit("score")]
    assert head.scale == (0, 1)


def test_a_form_of_another_key_is_said_to_be_one(tmp_path: Path) -> None:
    """The same answers drawn on another scale have other names, and a form is refused in one line by the other key."""
    for name, scale in (("labels", (0, 1)), ("scores", (1, 5))):
        hand_out(
            responses_of(SAMPLES, ANSWERS, models=["m1"]),
            source="x", annotators=("anna",), folder=tmp_path / name, key=None,
            blobs=MemoryBlobs(), per=None, seed=0, scale=scale,
        )  # fmt: skip
    head, items = read_key(tmp_path / "labels.key.jsonl")
    form = tmp_path / "scores" / "anna" / "form.csv"
    with pytest.raises(DataError) as refused:
        read_forms(head, items, [form])
    assert str(refused.value).count("\n") == 0
    assert "this form belongs to another key: 12 of its 12 items are not in this one" in str(refused.value)


def test_what_people_disagree_by_follows_the_scale() -> None:
    """On a scale of 0 and 1, carried by the lines or seen by their values, any difference counts; else more than 1."""
    unit = AnnotationUnit("s", "score", "m")
    apart = [Annotation(unit, "anna", 0), Annotation(unit, "ben", 1)]
    assert usual_disagreement(apart) == 0
    assert usual_disagreement([rating._replace(scale="0-1") for rating in apart]) == 0
    assert usual_disagreement([rating._replace(scale="0-5") for rating in apart]) == 1
    assert usual_disagreement([rating._replace(value=rating.value + 2) for rating in apart]) == 1
    verdicts = [rating._replace(unit=unit._replace(measure="verdict")) for rating in apart]
    assert usual_disagreement(verdicts) == 1


def test_what_cannot_be_handed_out(tmp_path: Path) -> None:
    """A key among the forms, a key that is there already, nobody, a name that is a path, and models without a response."""
    subjects = responses_of(SAMPLES, ANSWERS, models=["m1"])
    how = {"source": "x", "folder": tmp_path / "f", "blobs": MemoryBlobs(), "per": 1, "seed": 0}
    for annotators, key, error in (
        (("anna",), tmp_path / "f" / "key.jsonl", "cannot lie in the folder"),
        ((), None, "names of who annotates"),
        (("anna", "Anna"), None, "each once"),
        (("../anna",), None, "is not a valid name"),
    ):
        with pytest.raises(ConfigError, match=error):
            hand_out(subjects, annotators=annotators, key=key, **how)
    hand_out(subjects, annotators=("anna",), key=None, **how)
    with pytest.raises(InputError, match="is there already"):
        hand_out(subjects, annotators=("anna",), key=None, **how)
    with pytest.raises(InputError, match="no response of 'm9'"):
        responses_of(SAMPLES, ANSWERS, models=["m9"])


def test_draws_are_nested_and_their_own() -> None:
    """A larger draw holds the smaller one, and what is drawn of one category depends on no other."""
    strata = {f"s{number}": "xy"[number % 2] for number in range(40)}
    few, more = (draw(strata, per=per, seed=3) for per in (3, 6))
    assert set(few) < set(more)
    alone = draw({name: one for name, one in strata.items() if one == "x"}, per=3, seed=3)
    assert set(alone) == {name for name in few if strata[name] == "x"}
    assert set(few) != set(draw(strata, per=3, seed=4))
