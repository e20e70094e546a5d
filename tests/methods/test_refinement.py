"""A refinement's figures against figures computed by hand: accuracies, gains, atoms shown and withheld, leaks, the table."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from dokimasia.algorithms.statistics import clopper_pearson
from dokimasia.domain.refinement import ARMS, FeedbackPoint, FoundLeak, HintWording, RefinementRow, UnusedAtom
from dokimasia.methods.refinement import measures
from dokimasia.methods.refinement.figures import refinement_figures
from dokimasia.methods.refinement.measures import unchecked_texts, value_of
from dokimasia.report.fields import as_json
from dokimasia.storage.trees.lookup import criterion_key
from dokimasia.storage.usage import LedgerUsage

BEFORE = (5, 1, 2, 3)
SHOWN, WITHHELD = (2, 4), (3,)


def row(sample: str, arm: str, after: Sequence[float] = (), **fields: Any) -> RefinementRow:
    """A last round of an arm on a wrong answer of four atoms: 2 and 4 shown, 3 withheld, 1 solved before."""
    known: dict[str, Any] = {
        "run": "r",
        "source": "s",
        "sample_id": sample,
        "cluster": f"image of {sample}",
        "category": "count",
        "model": "m",
        "repeat": 0,
        "arm": arm,
        "round": 0 if arm == "original" else 1,
        "last": True,
        "failed": True,
        "selected": True,
        "draw": None,
        "options": None,
        "stopped": "",
        "failure": None,
        "reason": "",
        "answered": "wrong",
        "rule": "exact",
        "answered_before": "wrong",
        "weights": (3, 2, 3, 2),
        "before": BEFORE,
        "after": BEFORE if arm == "original" else after,
        "stated_before": (True,) * len(fields.get("before", BEFORE)),
        "stated": (True,) * len(after),
        "draws": (),
        "score_before": 2.9,
        "score": None,
        "shown": SHOWN,
        "withheld": WITHHELD,
        "unused": (),
        "told": (),
        "points": (),
        "flags": (),
        "criteria_id": f"criteria-of-{sample}-and-more",
        "response_id": None,
        "judgement_ids": (),
        "feedback_id": None,
        "final_id": None,
        "calls": (),
        "cost": None,
    }
    return RefinementRow.model_validate({**known, **fields})


def figures_of(rows: Sequence[RefinementRow], **options: Any) -> dict[str, Any]:
    """The figures of what was taken up, without the counts of all answers that were looked at."""
    refined = refinement_figures(rows, models=["m"], arms=ARMS, seed=0, **options)
    model = as_json(refined.models["m"])
    for name in ("answers", "answered", "rules"):
        del model[name]
    return {"models": {"m": model}, "table": as_json(refined.table)}


def arm_figures(rows: Sequence[RefinementRow], **options: Any) -> dict[str, Any]:
    return as_json(measures.arm_figures(rows, **options))


def gain_figures(
    control: Sequence[RefinementRow], treated: Sequence[RefinementRow], measure: measures.Measure, *, seed: int
) -> dict[str, Any]:
    return as_json(measures.gain_figures(control, treated, measure, seed=seed))


def leak_figures(rows: Sequence[RefinementRow], *, judged: bool) -> dict[str, Any]:
    return as_json(measures.leak_figures(rows, judged=judged))


def steadiness(rows: Sequence[RefinementRow]) -> dict[str, Any]:
    return as_json(measures.steadiness(rows))


def hint_figures(rows: Sequence[RefinementRow]) -> dict[str, Any]:
    return {arm: as_json(hints) for arm, hints in measures.hint_figures(rows).items()}


def two_arms() -> list[RefinementRow]:
    """Four answers: retry mends one, self three and one of these not for sure; one retry failed."""
    retry = [
        row("a", "retry", (5, 5, 1, 1), answered="right"),
        row("b", "retry", (5, 1, 1, 1)),
        row("c", "retry", (1, 1, 1, 1)),
        row("d", "retry", answered="unknown", failure="refused", after=()),
    ]
    self = [
        row("a", "self", (5, 5, 5, 5), answered="right"),
        row("b", "self", (5, 5, 1, 5), answered="right"),
        row("c", "self", (5, 5, 5, 1), answered="unknown", rule="unreadable"),
        row("d", "self", (3, 5, 4, 4), answered="right"),
    ]
    return [row(name, "original") for name in "abcd"] + retry + self


def test_an_arm_is_counted_with_what_failed_left_open() -> None:
    """One of three known answers is right; the fourth opens the bounds of the rate and of the atom scores."""
    found = arm_figures([one for one in two_arms() if one.arm == "retry"])
    assert (found["n"], found["n_known"], found["coverage"], found["right"]) == (4, 3, 0.75, 1)
    assert found["accuracy"]["share"] == pytest.approx(1 / 3, abs=1e-6)
    exact = clopper_pearson(1, 3)
    assert found["accuracy"]["low"] == pytest.approx(exact.low, abs=1e-6)
    assert found["bounds"] == {"low": 0.25, "high": 0.5}
    assert found["failures"] == {"refused": 1}
    # Shown atoms are 2 and 4: (5+1)/2, 1, 1; the withheld one is 3: always 1; all four: 3, 2, 1.
    assert found["shown"]["after"]["mean"] == pytest.approx(5 / 3, abs=1e-6)
    assert found["shown"]["before"]["mean"] == 2
    assert found["shown"]["bounds"] == {"low": 1.5, "high": 2.5}
    assert found["withheld"]["after"]["mean"] == 1
    assert found["atoms"]["after"]["mean"] == 2
    assert (found["shown"]["solved"]["k"], found["shown"]["solved"]["n"]) == (1, 6)
    assert found["shown"]["solved"]["bounds"] == {"low": 0.125, "high": 0.375}
    assert (found["withheld"]["solved"]["k"], found["withheld"]["solved"]["n"]) == (0, 3)


def test_atoms_that_were_right_and_became_wrong() -> None:
    """Of the atoms that were solved (the first of each answer) one of three known ones failed after a retry."""
    found = arm_figures([one for one in two_arms() if one.arm == "retry"])["spoilt"]
    assert (found["k"], found["n"], found["bounds"]) == (1, 3, {"low": 0.25, "high": 0.5})


def test_a_gain_is_paired() -> None:
    """Accuracy is known in both arms for two answers: one gained, one not; the atom scores for three."""
    rows = two_arms()
    control, treated = ([one for one in rows if one.arm == arm] for arm in ("retry", "self"))
    gain = gain_figures(control, treated, "accuracy", seed=0)
    assert (gain["n"], gain["n_paired"], gain["coverage"]) == (4, 2, 0.5)
    assert gain["difference"]["mean"] == 0.5
    # At worst c is wrong after and d was right before: (0 + 1 + 0 + 0) / 4; at best (0 + 1 + 1 + 1) / 4.
    assert gain["bounds"] == {"low": 0.25, "high": 0.75}
    assert gain["p_value"] == 1  # one image alone differs: either sign is as likely
    shown = gain_figures(control, treated, "shown", seed=0)
    assert shown["difference"]["mean"] == pytest.approx((2 + 4 + 2) / 3, abs=1e-6)
    assert shown["p_value"] == 0.25
    withheld = gain_figures(control, treated, "withheld", seed=0)
    assert withheld["difference"]["mean"] == pytest.approx((4 + 0 + 4) / 3, abs=1e-6)
    assert withheld["p_value"] == 0.5
    assert gain_figures(control, [], "shown", seed=0)["difference"] is None


def test_answers_of_one_image_are_one() -> None:
    """Four gains on one image are no evidence: the interval is the whole scale, and the test says nothing."""
    control = [row(name, "retry", BEFORE, cluster="one") for name in "abcd"]
    treated = [row(name, "self", (5, 5, 5, 5), cluster="one", answered="right") for name in "abcd"]
    gain = gain_figures(control, treated, "accuracy", seed=0)
    assert (gain["difference"], gain["p_value"]) == ({"mean": 1, "low": -1, "high": 1}, 1)


def test_the_original_is_measured_by_its_second_judgement() -> None:
    """What was chosen for its first judgement would seem to mend by itself; the second says how far atoms move alone."""
    original = row("a", "original", draws=((5, 1, 2, 3), (3, 5, 2, 3), (5, 5, 2, 3)))
    assert value_of(original, "shown") == 4
    found = arm_figures([original])
    assert (found["shown"]["solved"]["k"], found["shown"]["solved"]["n"]) == (1, 2)
    assert found["spoilt"]["k"] == 0
    assert arm_figures([row("a", "original")])["atoms"]["n_scored"] == 0
    steady = steadiness([original, row("b", "original")])
    assert (steady["turned"], steady["n"], steady["answers"], steady["spread"]) == (2, 4, 1, 1.5)
    assert steadiness([])["share"] is None


def test_what_a_repair_used() -> None:
    """Thirty calls for three repaired of four are ten a repair; where none was repaired there is no such figure."""
    mended = [row(name, "self", (5, 5, 5, 5), answered="right" if name != "d" else "wrong") for name in "abcd"]
    found = arm_figures(mended, used=LedgerUsage(30, 0, 0, 0, 0.6))
    assert found["per_repaired"]["calls"]["mean"] == 10
    assert found["per_repaired"]["cost"]["mean"] == pytest.approx(0.2)
    limits = clopper_pearson(3, 4)
    assert found["per_repaired"]["calls"]["low"] == pytest.approx(30 / (4 * limits.high), abs=1e-4)
    assert arm_figures(mended, used=LedgerUsage(30, 0, 0, 0, None))["per_repaired"]["cost"] is None
    assert arm_figures([row("a", "self", BEFORE)], used=LedgerUsage(3))["per_repaired"]["calls"] is None


def test_p_values_are_adjusted_over_what_is_looked_at() -> None:
    """The gains of one measure are one family: none is called sure that is not so among all of them."""
    rows: list[RefinementRow] = []
    for name in "abcdefgh":
        rows += [row(name, "original"), row(name, "again", BEFORE), row(name, "retry", BEFORE)]
        rows += [row(name, "self", (5, 5, 5, 5), answered="right"), row(name, "peer", BEFORE)]
    gains = figures_of(rows)["models"]["m"]["gains"]
    assert list(gains) == [
        "retry over again",
        "self over retry",
        "self over again",
        "peer over retry",
        "peer over again",
        "peer over self",
    ]
    assert gains["self over retry"]["accuracy"]["p_value"] == pytest.approx(2 / 2**8, abs=1e-6)
    # Three of six gains have this p-value: over retry and again, and that of peer, which mended nothing, over self.
    assert gains["self over retry"]["accuracy"]["adjusted"] == pytest.approx(6 / 3 * 2 / 2**8, abs=1e-5)
    assert gains["peer over retry"]["accuracy"]["adjusted"] == 1


def test_by_category_and_capability() -> None:
    """A capability takes the atoms that are mapped to it, and the answers that failed one of them."""
    rows = [
        *two_arms(),
        row("e", "original", category="read", before=(1, 5), after=(1, 5), shown=(1,), withheld=()),
        row("e", "retry", (1, 5), category="read", before=(1, 5), shown=(1,), withheld=()),
        row("e", "self", (5, 5), category="read", before=(1, 5), shown=(1,), withheld=(), answered="right"),
    ]
    place_of = {criterion_key(f"criteria-of-{name}-and-more", 2): "<Perception><P><Colour>" for name in "abcd"}
    place_of[criterion_key("criteria-of-e-and-more", 1)] = "<Reasoning><R><Sum>"
    place_of[criterion_key("criteria-of-a-and-more", 1)] = "<Reasoning><R><Sum>"
    found = figures_of(rows, node_of=place_of)["models"]["m"]
    assert {name: one["n"] for name, one in found["by_category"].items()} == {"count": 4, "read": 1}
    assert found["by_category"]["read"]["gains"] == {}
    colour = found["by_capability"]["<Perception><P><Colour>"]
    assert colour["n"] == 4
    assert colour["arms"]["self"]["shown"]["after"]["mean"] == 5
    assert colour["arms"]["self"]["withheld"]["n"] == 0
    # The first atom of `a` was solved, so that `a` did not fail at sums.
    assert found["by_capability"]["<Reasoning><R><Sum>"]["n"] == 1
    table = figures_of(rows, node_of=place_of)["table"]
    assert table["by"] == "capability"
    assert table["columns"][:2] == ["Perception", "Reasoning"]
    assert len(table["columns"]) == 6
    assert "by_branch" not in found
    assert "by_capability" not in figures_of(rows)["models"]["m"]


def test_gains_by_category_stand_beside_both_controls_and_the_original() -> None:
    """By category each strategy gains over retry, over answering anew, and in its atom score over what it was chosen by."""
    rows = [
        made
        for name in "abcde"
        for made in (
            row(name, "original"),
            row(name, "again", (5, 1, 2, 4)),
            row(name, "retry", BEFORE),
            row(name, "self", (5, 5, 4, 5), answered="right"),
        )
    ]
    places = {criterion_key(f"criteria-of-{name}-and-more", 2): "<Perception><P><Colour>" for name in "abcde"}
    for place_of, column, mean in ((None, "count", 2.75), (places, "Perception", 1)):
        table = figures_of(rows, node_of=place_of)["table"]
        atoms, right = (
            next(one for one in table["rows"] if (one["strategy"], one["measure"]) == ("self", measure))["gains"]
            for measure in ("atom score", "accuracy")
        )
        assert set(right) == {"retry", "again"}
        assert {control: gain["cells"][column]["mean"] for control, gain in right.items()} == {"retry": 1, "again": 1}
        after = 4.75 if place_of is None else 5
        again = 3 if place_of is None else 1
        assert atoms["original"]["cells"][column]["mean"] == after - mean
        assert atoms["original"]["cells"][column]["p_value"] is None
        assert atoms["again"]["cells"][column]["mean"] == after - again
        assert atoms["original"]["average"]["mean"] == 2
    assert figures_of(rows)["models"]["m"]["by_category"]["count"]["gains"].keys() >= {"self over again"}


def test_the_table_has_the_papers_form() -> None:
    """Two rows a strategy: accuracy and atom score by category, their average, and the gain over a retry."""
    table = figures_of(two_arms())["table"]
    assert (table["by"], table["columns"]) == ("category", ["count"])
    assert [(one["strategy"], one["measure"]) for one in table["rows"]][:4] == [
        ("original", "accuracy"),
        ("original", "atom score"),
        ("again", "accuracy"),
        ("again", "atom score"),
    ]
    rows = {(one["strategy"], one["measure"]): one for one in table["rows"]}
    assert rows["original", "accuracy"]["average"]["value"] == 0
    assert rows["original", "atom score"]["average"]["value"] == 2.75
    assert rows["self", "accuracy"]["average"] == rows["self", "accuracy"]["cells"]["count"]
    assert rows["self", "accuracy"]["gain"]["mean"] == 0.5
    assert rows["self", "atom score"]["gain"]["mean"] == pytest.approx((2 + 2 + 3) / 3, abs=1e-6)
    assert rows["again", "accuracy"]["average"] is None
    assert rows["retry", "accuracy"]["gain"] is None


def test_answers_of_a_threshold_are_told_apart() -> None:
    """What was right before stands apart, and is in no accuracy, score or gain of the others."""
    rows = two_arms()
    alone = figures_of(rows, threshold=3.0)["models"]["m"]
    rows += [
        row("e", arm, (5, 5, 5, 5), answered="right", answered_before="right") for arm in ("original", "retry", "self")
    ]
    mixed = figures_of(rows, threshold=3.0)["models"]["m"]
    apart = mixed.pop("apart")
    assert {kind: one["failed"] for kind, one in apart.items()} == {"wrong": 4, "right": 1}
    assert apart["wrong"]["arms"]["original"]["accuracy"]["share"] == 0
    assert apart["right"]["arms"]["original"]["accuracy"]["share"] == 1
    assert mixed == {name: one for name, one in alone.items() if name != "apart"}
    assert "apart" not in figures_of(rows)["models"]["m"]


def test_what_is_only_said_more_is_no_gain() -> None:
    """Atoms spoken to are those of which the answer spoke before and, in both arms, after; their gain is over the same atoms."""
    silent = (True, False, True, True)
    rows = [
        row("a", "original", stated_before=silent),
        row("a", "retry", (5, 1, 2, 3), stated_before=silent, stated=(True, False, True, True)),
        row("a", "self", (5, 5, 3, 3), stated_before=silent, stated=(True, True, True, True)),
        row("a", "peer", (5, 5, 5, 1), stated_before=silent, stated=(True, True, True, False)),
    ]
    found = figures_of(rows)["models"]["m"]
    assert found["arms"]["self"]["spoken"]["before"]["mean"] == pytest.approx((5 + 2 + 3) / 3, abs=1e-6)
    assert found["arms"]["self"]["spoken"]["after"]["mean"] == pytest.approx((5 + 3 + 3) / 3, abs=1e-6)
    assert found["arms"]["peer"]["spoken"]["after"]["mean"] == 5
    gains = found["gains"]
    assert gains["self over retry"]["atoms"]["difference"]["mean"] == pytest.approx(5 / 4, abs=1e-6)
    assert gains["self over retry"]["spoken"]["difference"]["mean"] == pytest.approx(1 / 3, abs=1e-6)
    assert gains["peer over retry"]["spoken"]["difference"]["mean"] == pytest.approx(3 / 2, abs=1e-6)
    lost = row("a", "retry", (), stated_before=silent, answered="unknown", failure="refused")
    gain = gain_figures([lost], [rows[2]], "spoken", seed=0)
    assert (gain["n"], gain["n_paired"], gain["difference"]) == (1, 0, None)


def test_few_possible_answers_stand_apart_with_what_guessing_reaches() -> None:
    """Questions that can be guessed are one part, with the rate of a pick among what is left, the others another."""
    rows = [one.model_copy(update={"options": {"a": 2, "b": 4, "c": 5}.get(one.sample_id)}) for one in two_arms()]
    parts = figures_of(rows)["models"]["m"]["by_options"]
    assert {kind: part["n"] for kind, part in parts.items()} == {"two to five": 3, "more": 1}
    assert parts["two to five"]["guessing"] == pytest.approx((1 + 1 / 3 + 1 / 4) / 3, abs=1e-6)
    assert "guessing" not in parts["more"]
    assert set(figures_of(two_arms())["models"]["m"]["by_options"]) == {"more"}


def test_what_cannot_be_fed_back_is_counted() -> None:
    """Answers without a point leave all arms and are counted, failed atoms by why they are none, and those with two or more."""
    unused = (UnusedAtom(atom=2, why="final answer"), UnusedAtom(atom=4, why="leak"))
    left = row("z", "original", selected=False, shown=(), withheld=(), unused=unused)
    right = row("y", "original", failed=False, selected=False, answered="right", unused=unused)
    rows = [*two_arms(), left, right]
    found = figures_of(rows)["models"]["m"]
    assert found["left_out"] == {"answers": 1, "atoms": {"final answer": 1, "leak": 1}}
    assert (found["failed"], found["withheld_from"]) == (4, 4)


def test_leaks_and_hints_are_counted_once() -> None:
    """Of four hints two leak, one of these in its second wording, too; one question leaks; two arms share a hint."""
    leak = FoundLeak(form="verbatim", excerpt="four")
    first, second = HintWording(text="four", leaks=(leak,)), HintWording(text="look")
    clean = FeedbackPoint(atom=2, question="q", hint="look", peer="p", asked=1, wordings=(second,))
    mended = FeedbackPoint(atom=4, question="q", hint="look", peer="p", asked=2, wordings=(first, second))
    again = HintWording(text="4", leaks=(leak,))
    lost = FeedbackPoint(atom=3, question="q", peer="p", fallback="leak", asked=2, wordings=(first, again))
    other = clean.model_copy(update={"wordings": (HintWording(text="go on"),), "atom": 1})
    none = FeedbackPoint(atom=1, question="q", fallback="no peer")
    unused = (UnusedAtom(atom=3, why="leak", leaks=(leak,)), UnusedAtom(atom=4, why="final answer"))
    rows = [
        row("a", "original"),
        row("b", "original", unused=unused),
        row("a", "peer", points=(clean, mended, lost)),
        row("a", "peer", points=(clean,), round=2),
        row("b", "peer", points=(other, none)),
        row("b", "self", points=(none,)),
    ]
    found = leak_figures(rows, judged=True)
    assert (found["hints"]["k"], found["hints"]["n"]) == (2, 4)
    assert found["hints"]["high"] == pytest.approx(clopper_pearson(2, 4).high, abs=1e-6)
    assert (found["rewritings"]["k"], found["rewritings"]["n"]) == (1, 2)
    # Three failed atoms of `a` and two of `b`: the third one of `b` leaks, and its fourth is no point at all.
    assert (found["questions"]["k"], found["questions"]["n"]) == (1, 5)
    assert (found["dropped"], found["passed_on"]) == (1, 3)
    assert found["forms"] == {"verbatim": 3}
    hints = hint_figures(rows)
    assert (hints["peer"]["points"], hints["peer"]["hinted"], hints["peer"]["asked"]) == (6, 4, 7)
    assert hints["peer"]["fallbacks"] == {"leak": 1, "no peer": 1}
    assert hints["peer"]["peers"] == {"p": {"points": 5, "hinted": 4}}
    assert leak_figures([], judged=True)["hints"]["share"] is None


def test_what_no_judge_looked_at_is_said() -> None:
    """Without a judge the forms that the rules cannot find are named; with one, the texts that it could not judge."""
    rows = [
        row("a", "self", points=(FeedbackPoint(atom=1, question="q", unjudged=2), FeedbackPoint(atom=2, question="q")))
    ]
    found = leak_figures(rows, judged=True)
    assert (found["judge"], found["not_looked_for"], found["unjudged"]) == (True, [], 2)
    assert unchecked_texts(measures.leak_figures(rows, judged=True)) == [
        "On 2 texts the judge gave no verdict that could be read; they passed on the word of the certain rules alone."
    ]
    [said] = unchecked_texts(measures.leak_figures([], judged=False))
    assert said.startswith("No judge looked for leaks (--no-leak-judge): paraphrases, ")
    assert unchecked_texts(measures.leak_figures([], judged=True)) == []


def test_the_order_of_rows_is_of_no_account() -> None:
    """What comes first changes no digit, and answers that were not taken up change nothing at all."""
    rows = two_arms()
    shuffled = [*rows, row("z", "original", failed=False, selected=False, answered="right")]
    random.Random(0).shuffle(shuffled)
    assert figures_of(shuffled) == figures_of(rows)
    nothing = figures_of([])["models"]["m"]
    assert nothing["failed"] == 0
    assert nothing["arms"]["self"]["accuracy"] is None
    assert nothing["gains"]["self over retry"]["accuracy"]["difference"] is None


def test_questions_with_two_answers_are_in_no_gain() -> None:
    """Told that one of two answers is wrong, a reader knows the other: such answers are counted, and compared as published."""
    rows: list[RefinementRow] = []
    for sample in "abcdefgh":
        options = 2 if sample in "abc" else None
        fields = {"options": options, "answered_before": "wrong"}
        rows += [row(sample, "original", **fields), row(sample, "again", **fields)]
        rows.append(row(sample, "retry", (5, 5, 5, 5), answered="right" if options else "wrong", **fields))
    ours = figures_of(rows)["models"]["m"]
    assert ours["two_way"] == 3
    assert ours["arms"]["retry"]["accuracy"]["share"] == 3 / 8
    assert ours["gains"]["retry over again"]["accuracy"]["difference"]["mean"] == 0
    assert ours["gains"]["retry over again"]["accuracy"]["n"] == 5
    published = figures_of(rows, two_way=True)["models"]["m"]
    assert published["gains"]["retry over again"]["accuracy"]["difference"]["mean"] == 3 / 8
