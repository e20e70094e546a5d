"""Rubrics, mended rubrics and a panel's verdicts are read whole, or refused with a reason that a judge can act on."""

import json
from pathlib import Path
from typing import Any

import pytest

from dokimasia.domain.rubric import CheckedRubric, polarity_of
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.rubrics import parse_cross_check, parse_easy_wrong, parse_must_right, parse_repaired


def row(text: str = "mention a dog", **changes: Any) -> dict[str, Any]:
    """A rubric as a judge writes it."""
    fields = {"statement": f"The response must {text}.", "polarity": "positive", "kind": "object", "evidence": "a dog"}
    return {**fields, **changes}


def test_must_right_rubrics_are_read() -> None:
    """Three to five objects come back in order, with what stands around them overlooked."""
    text = (
        f"Here you are:\n```json\n{json.dumps([row(), row('say that it rains', kind='state'), row('name a car')])}\n```"
    )
    found = parse_must_right(text)
    assert [one.kind for one in found] == ["object", "state", "object"]
    assert found[0] == ("The response must mention a dog.", "positive", "object", "a dog", ())


def test_the_published_form_is_read() -> None:
    """Bare statements under `rubrics` are rubrics whose polarity is read off them."""
    statements = [
        "The response must identify a cat.",
        "The response must NOT mention a dog.",
        "The response mentions a car.",
    ]
    found = parse_must_right(json.dumps({"rubrics": statements}))
    assert [one.polarity for one in found] == ["positive", "negative", "positive"]
    assert {one.kind for one in found} == {None}


def test_a_field_without_a_name_is_overlooked() -> None:
    """An object may hold a field whose name is empty, as other fields that nobody asked for."""
    assert len(parse_must_right(json.dumps([row(), row("say more", **{"": "x"}), row("name a car")]))) == 3


def test_polarity_is_read_off_a_statement() -> None:
    """A ban is a ban in any spelling, with or without its subject; a `not` inside a demand is none."""
    assert polarity_of("The response must never mention people.") == "negative"
    assert polarity_of("The response mustn't mention people.") == "negative"
    assert polarity_of("must NOT mention the presence of people in the image") == "negative"
    assert polarity_of("The response does not mention people.") == "negative"
    for text in (
        "must avoid claiming x",
        "must make no mention of x",
        "doesn't claim x",
        "must omit the x",
        "is free of x",
    ):
        assert polarity_of(f"The response {text}.") == "negative", text
    assert polarity_of("No response may mention people.") == "negative"
    assert polarity_of("The response must mention no-entry signs.") == "positive"
    assert polarity_of("The response must quote 'Do Not Enter'.") == "positive"
    assert polarity_of("The response must note that no lamp is lit.") == "positive"


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([row(), row("b")], "2 rubrics, not 3 to 5"),
        ([row(str(n)) for n in range(6)], "6 rubrics, not 3 to 5"),
        ([row(), row("b"), row("c", statement=" ")], "rubric 3: the field 'statement'"),
        ([row(), row("b"), row("c", polarity="neutral")], "rubric 3: the polarity 'neutral'"),
        ([row(), row("b"), row("c", kind="mood")], "rubric 3: the kind 'mood'"),
        ([row(), row("b"), row("c", evidence=4)], "rubric 3: the field 'evidence'"),
        ([row(), row("b"), row("c" * 1200)], "no single point"),
        ([row(), "The response must b."], "no complete JSON array"),
    ],
)
def test_must_right_rubrics_that_are_refused(rows: list[Any], reason: str) -> None:
    """Too few, too many, or a field that does not hold what it should."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_must_right(json.dumps(rows))


def test_all_faults_of_a_reply_are_named_at_once() -> None:
    """A judge is told everything that is wrong with its rubrics, so that one more reply can mend it all."""
    rows = [row("a", kind="mood"), row("b", evidence=4)]
    with pytest.raises(UnparsableReply) as refused:
        parse_must_right(json.dumps(rows))
    for said in ("2 rubrics, not 3 to 5", "rubric 1: the kind 'mood'", "rubric 2: the field 'evidence'"):
        assert said in refused.value.reason


def test_easy_wrong_rubrics_name_responses_of_the_pool() -> None:
    """Support is sorted and within the pool; only `published` wants some for every rubric."""
    found = parse_easy_wrong(json.dumps([row(responses=[3, 1, 3])]), 3)
    assert found[0].responses == (1, 3)
    assert parse_easy_wrong("[]", 3) == ()
    assert parse_easy_wrong(json.dumps([row(responses=[])]), 3)[0].responses == ()
    for responses, reason in (
        ([4], "response 4 is not in the pool"),
        ([], "names no response"),
        (["1"], "not in the pool"),
    ):
        with pytest.raises(UnparsableReply, match=reason):
            parse_easy_wrong(json.dumps([row(responses=responses)]), 3, published=True)


def test_of_more_than_twenty_easy_wrong_rubrics_the_first_twenty_are_taken() -> None:
    """They are written by severity, and what comes after the twentieth costs the reply nothing; `published` takes all."""
    rows = [row(f"say {n}", responses=[1]) for n in range(20)]
    found = parse_easy_wrong(json.dumps([*rows, row("say 20", responses=[1]), row("say 21", kind="mood")]), 3)
    assert [one.statement for one in found] == [one["statement"] for one in rows]
    more = json.dumps([*rows, row("say 20", responses=[1])])
    assert len(parse_easy_wrong(more, 3, published=True)) == 21


def test_repaired_rubrics_answer_each_that_was_named() -> None:
    """Mended or given up, each named rubric once and no other."""
    text = json.dumps([{"n": 2, **row()}, {"n": 4, "drop": True}])
    found = parse_repaired(text, {2, 4})
    assert found[4] is None
    assert found[2] is not None
    for named, reason in (({2}, "n is 4"), ({2, 4, 5}, "there is no object for rubric 5")):
        with pytest.raises(UnparsableReply, match=reason):
            parse_repaired(text, named)
    with pytest.raises(UnparsableReply, match="stands there twice"):
        parse_repaired(json.dumps([{"n": 2, "drop": True}] * 2), {2})


def test_a_replaced_easy_wrong_rubric_may_name_responses() -> None:
    """Another error of the pool says whose it is; a fact of the caption, and a rubric that is mended, need not."""
    text = json.dumps([{"n": 1, **row()}, {"n": 2, **row("name a car", responses=[2])}])
    for mined in ({2}, {1, 2}):
        found = parse_repaired(text, {1, 2}, mined=mined, n_responses=2)
        assert [found[n].responses for n in (1, 2) if found[n] is not None] == [(), (2,)]
    with pytest.raises(UnparsableReply, match="response 2 is not in the pool"):
        parse_repaired(text, {1, 2}, mined={1, 2}, n_responses=1)


def test_the_earlier_name_of_a_verdict_is_read() -> None:
    """`true` is what the verdict `passes` was called before."""
    assert parse_cross_check("1 | true: no | atomic: yes | decidable: <yes>", 1) == (CheckedRubric(False, True, True),)


def test_a_members_verdicts_are_read_line_by_line() -> None:
    """Each rubric has one line with three answers; decoration does not matter."""
    text = "Verdicts:\n- **1** | passes: yes | atomic: no | decidable: yes\n2 | passes: [no] | atomic: yes | decidable: yes"
    assert parse_cross_check(text, 2) == (CheckedRubric(True, False, True), CheckedRubric(False, True, True))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 | passes: yes | atomic: yes | decidable: yes", "no line for rubric 2"),
        ("1 | passes: yes | atomic: yes\n2 | passes: yes | atomic: yes | decidable: yes", "no answer to: decidable"),
        ("1 | passes: partially | atomic: yes | decidable: yes", "'partially', neither yes nor no"),
        ("7 | passes: yes | atomic: yes | decidable: yes", "rubric 7, but the rubrics are 1 to 2"),
        ("All of them are fine.", "no line for rubric 1, 2"),
    ],
)
def test_verdicts_that_are_refused(text: str, reason: str) -> None:
    """A rubric that a member did not answer is no verdict on it."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_cross_check(text, 2)


def test_what_real_models_wrote_is_read(shared_data: Path) -> None:
    """Rubrics and verdicts of real models, small and hasty ones too, are read whole, under the earlier form as well."""
    path = shared_data / "rehearsal" / "exchanges.jsonl"
    if not path.exists():
        pytest.skip("the exchanges with real models are not here")
    read: dict[str, list[int]] = {}
    for line in path.read_text().splitlines():
        exchange = json.loads(line)
        system = exchange["messages"][0]["text"]
        if system.startswith("You write gating rubrics"):
            read.setdefault("must-right", []).append(len(parse_must_right(exchange["reply"])))
        elif system.startswith("You turn the errors that models really make"):
            read.setdefault("easy-wrong", []).append(len(parse_easy_wrong(exchange["reply"], 2)))
        elif system.startswith("You check rubrics by which"):
            read.setdefault("verdicts", []).append(len(parse_cross_check(exchange["reply"], 6)))
    assert read == {"must-right": [4], "easy-wrong": [2], "verdicts": [6, 6]}
