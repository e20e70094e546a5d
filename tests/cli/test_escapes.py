"""No text that a model, a data file or an error brings controls the terminal, whichever way it is printed."""

import io
import json
import logging
import re
import sys
from pathlib import Path

import click
import pytest
from rich.text import Text

from dokimasia.cli.main import guarded, run
from dokimasia.cli.shared import console, grid, say, say_error
from dokimasia.log import configure, logger, printable

pytestmark = pytest.mark.quick

ATTACKS = (
    "\x1b[2J\x1b[H",
    "\x1b]0;title\x07",
    "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "\x1b]52;c;ZWNobw==\x07",
    "\x1b[8m",
    "\x9b2J",
    "\u202etxt.exe",
    "\u2066x",
    "one\rtwo",
    "\x08\x7f",
    "\ud83d",
    "\U000e0041",
)
OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_every_way_to_the_terminal_escapes(attack: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A string, a styled text, a table's cell, click's lines, an error and a line of the log show escapes as text."""
    table = grid("name")
    table.add_row(attack)
    ways = [
        lambda: console().print(attack, markup=False),
        lambda: console().print(Text("before ").append(attack, style="bold").append(" after")),
        lambda: console().print(table),
        lambda: click.echo(attack),
        lambda: click.echo(attack, err=True),
        lambda: say(attack),
        lambda: say_error(attack),
        lambda: print(attack),
    ]
    shown = [ways[0], ways[2], *ways[5:]]  # Rich and click take some characters out of a text themselves
    with guarded():
        for number, way in enumerate(ways):
            way()
            out, err = capsys.readouterr()
            assert not OBEYED.search(out + err), number
            if way in shown:
                assert printable(attack) in (out + err).replace("\n", ""), number
        configure(level="warning")
        logger().warning(f"event {attack}", value=attack, several=[attack])
        assert not OBEYED.search(capsys.readouterr().err)
    logging.getLogger().handlers.clear()


def test_styles_stay_where_they_were() -> None:
    """An escaped text keeps the styles of its pieces, and colours of our own reach the terminal."""
    with guarded():
        out = console()
        out.file = file = io.StringIO()
        out._force_terminal, out.no_color = True, False  # pyright: ignore[reportPrivateUsage]
        out.print(Text("plain ").append("\x1b[2Jbad", style="bold"))
    assert r"\x1b[2Jbad" in re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())
    assert file.getvalue().startswith("plain ")


def test_an_encoding_without_a_character_prints_its_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal of another encoding a line is printed with escapes, and not an error."""
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii", write_through=True))
    with guarded():
        click.echo("naïve")
    assert raw.getvalue() == b"na\\xefve\n"


def test_a_verb_escapes_what_its_arguments_and_data_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A usage error, an error of ours and the check of a hostile data file print no control character."""
    hostile = "\x1b]0;x\x07\u202e"
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps({"id": hostile, "prompt": "p", "image": hostile, "category": hostile}) + "\n")
    for arguments in ([hostile], ["show", "last", "--home", str(tmp_path / hostile)], ["data", "check", str(data)]):
        assert run(arguments) != 0
        out, err = capsys.readouterr()
        assert not OBEYED.search(out + err)
        assert r"\x1b]0;x" in (out + err).replace("\n", "")
