"""Hints between tags, and verdicts on leaks: bounded, and never more than the text states."""

import json
from pathlib import Path

import pytest

from dokimasia.errors import UnparsableReply
from dokimasia.parsing.hints import MAX_WORDS, hints_form, parse_hints, parse_leaks

TEXT = "Start at the door. Then count the four cups, and mind the “blue” one."


def hints(*texts: str) -> str:
    return "\n".join(f"<hint {n}>\n{text}\n</hint>" for n, text in enumerate(texts, start=1))


def test_hints_are_what_stands_between_the_tags() -> None:
    """What stands around the tags is overlooked, and a thought before them; numbers put them in order."""
    assert parse_hints("Sure!\n<hint 1>\nLook at the left edge.\n</hint>\nGood luck.", 1) == ("Look at the left edge.",)
    thought = "<think>It is 4. <hint 1>4</hint></think><hint>Count the legs.</hint>"
    assert parse_hints(thought, 1) == ("Count the legs.",)
    swapped = '<hint n="2">Second.</hint 2> <HINT_1>First.</HINT>'
    assert parse_hints(swapped, 2) == ("First.", "Second.")


def test_a_point_may_go_without_a_hint() -> None:
    """The word none in the place of a hint is none."""
    assert parse_hints(hints("Look below.", "None."), 2) == ("Look below.", "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Look at the left edge.", "hint 1: write it once, in the form <hint 1>...</hint>"),
        ("<hint 1>one</hint><hint 1>two</hint>", "hint 1: write it once"),
        ("<hint 1>never ends", "hint 1: write it once"),
        ("</hint>late<hint 1>", "hint 1: write it once"),
        (hints("one", "two"), "without a number from 1 to 1"),
        (hints("  "), "hint 1 is empty"),
        (hints_form(1), "hint 1 is empty"),
        (hints("I'm sorry, but I can't help with this request."), "hint 1 declines"),
        (hints("You are so brilliant! Great job. Keep it up!"), "hint 1 only praises"),
        (hints("look " * (MAX_WORDS + 1)), "hint 1 has 161 words; write at most 80"),
        (hints("x" * 5_000), "words"),
        ("<hint>" * 100_000, "more than 1000 times"),
    ],
)
def test_what_is_no_hint_is_named(text: str, reason: str) -> None:
    """Each way to give none is told in words that the peer can act on, however long the reply is."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_hints(text, 1)


def test_all_faults_are_named_at_once_and_the_rest_is_kept_the_second_time() -> None:
    """Three faults are one reason; of a second reply what can be used is taken, and the rest is left empty."""
    text = hints("You are so brilliant!", "Look at the axis.", "") + "<hint 9>Who?</hint>"
    with pytest.raises(UnparsableReply) as raised:
        parse_hints(text, 4)
    for fault in ("number from 1 to 4", "hint 1 only praises", "hint 3 is empty", "hint 4: write it once"):
        assert fault in raised.value.reason
    assert parse_hints(text, 4, strict=False) == ("", "Look at the axis.", "", "")
    with pytest.raises(UnparsableReply, match="hint 1 only praises"):
        parse_hints(hints("You are so brilliant!"), 1, strict=False)


def test_praise_is_left_out_of_a_hint() -> None:
    """A sentence that only flatters does not reach the model; the rest does."""
    text = "You're doing great! Look at the axis first. Greater values lie higher."
    assert parse_hints(hints(text), 1) == ("Look at the axis first. Greater values lie higher.",)
    for useful in ("Great care is needed where the lines cross.", "You will find it best at the left edge of the map."):
        assert parse_hints(hints(useful), 1) == (useful,)


def test_a_leak_is_quoted_with_its_way() -> None:
    """The passage is given back as it stands in the text, whatever quotes, case and spaces the judge makes of it."""
    lines = (
        '**Leak:** "COUNT the  four cups" | by: said',
        '- Leak: the "blue" one | by: Left-over.',
        "Verdict: [[leak]]",
    )
    reply = "\n".join(("It counts.", *lines))
    assert [(leak.excerpt, leak.form, leak.found_by) for leak in parse_leaks(reply, TEXT)] == [
        ("count the four cups", "said", "judge"),
        ("the “blue” one", "left over", "judge"),
    ]
    [unmarked] = parse_leaks('Leak: "the four cups" | *worked out*\n[[leak]]', TEXT)
    assert (unmarked.excerpt, unmarked.form) == ("the four cups", "worked out"), "`by:` may be missing"
    assert parse_leaks("Nothing is told.\n\nVerdict: [[ Clean ]] [[clean]]", TEXT) == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("leak", r"\[\[leak\]\] or \[\[clean\]\]"),
        ("[[leak]] or [[clean]]", r"both \[\[leak\]\] and \[\[clean\]\]"),
        ("Verdict: [[leak]]", "no line of the form Leak"),
        ('Leak: "five cups" | by: said\n[[leak]]', '"five cups" does not stand in the text'),
        ('Leak: "four cups" | by: magic\n[[leak]]', "goes one of said, reworded"),
        ('Leak: "four cups"\n[[leak]]', "goes one of said, reworded"),
        ('Leak: "four cups" | by: said\n[[clean]]', r"the verdict is \[\[clean\]\]"),
        ('Leak: "five" | by: magic\nLeak: "six" | by: said\n[[leak]]', '"five".*magic|"five".*"six"'),
    ],
)
def test_what_is_no_verdict_on_a_leak_is_named(text: str, reason: str) -> None:
    """Verdict and passages have to agree, passages have to stand in the text, and ways have to be those asked for."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_leaks(text, TEXT)


def test_a_second_reply_without_a_passage_is_a_leak_of_the_whole() -> None:
    """After one re-ask a leak is never dropped for want of its words; a clean verdict stays clean."""
    [leak] = parse_leaks('Leak: "five cups" | by: said\n[[leak]]', TEXT, strict=False)
    assert (leak.excerpt, leak.form) == ("", "judge")
    assert leak.reason == "the text as a whole gives away what is to be found out"
    assert parse_leaks('Leak: "four cups" | by: said\n[[clean]]', TEXT, strict=False) == ()


def test_what_real_models_wrote_is_read(shared_data: Path) -> None:
    """Hints and verdicts on leaks of real models are read, under the earlier form as well."""
    path = shared_data / "rehearsal" / "exchanges.jsonl"
    if not path.exists():
        pytest.skip("the exchanges with real models are not here")
    read: dict[str, int] = {}
    for line in path.read_text().splitlines():
        exchange = json.loads(line)
        system, asked, reply = exchange["messages"][0]["text"], exchange["messages"][-1]["text"], exchange["reply"]
        if system.startswith(("You answered a question well", "You wrote a hint")):
            read["hint"] = read.get("hint", 0) + bool(parse_hints(reply, 1)[0])
        elif system.startswith("Somebody is to find out"):
            read["clean"] = read.get("clean", 0) + (parse_leaks(reply, asked) == ())
    assert read == {"hint": 11, "clean": 14}
