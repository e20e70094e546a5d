"""The report's page as text: the same bytes each time, everything in one file, no text outside its place."""

import base64
import hashlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from dokimasia.report.blocks import Span
from dokimasia.report.browser import sample_views
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.report.document import inline, render_document
from dokimasia.report.drawing import draw_sentence, escape
from dokimasia.report.labels import label, short_labels
from dokimasia.report.page import render_page, script_json
from dokimasia.simulation.world import write_world
from tests.report.conftest import ATTACKS, Finished, run_on


def test_the_same_run_gives_the_same_bytes(full: Finished) -> None:
    """Nothing in a page depends on when it is written."""
    assert render_page(full.data()) == render_page(full.data())


def test_the_first_line_of_the_body_speaks_of_simulated_models(small: Finished) -> None:
    """The first thing that a reader sees is that no real model was asked."""
    body = render_page(small.data()).partition("<body>\n")[2]
    assert body.startswith(f'<p class="simulated">{SIMULATED_NOTE}')


def test_the_policy_names_the_hashes_of_the_scripts(small: Finished) -> None:
    """Only the scripts that the page brings may run, and none of them can end its element early."""
    page = render_page(small.data())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        assert f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}" in policy[1]
    assert "default-src &#x27;none&#x27;" in policy[1]
    assert "unsafe-eval" not in policy[1]


def test_samples_are_shown_failures_first_and_the_rest_is_counted(full: Finished) -> None:
    """A small browser holds failures before anything else, and says how much it leaves out."""
    data = full.data(samples=5)
    failed = [bool(view["answers"] and any(one["failure"] for one in view["answers"])) for view in data.samples]
    assert failed == [True] * 5
    page = render_page(data)
    assert (
        f"5 of {data.selection.total} samples: 5, drawn by seed 3, of the {data.selection.failed} samples with a failure"
        in page
    )
    assert f"{data.selection.total - 5} are left out here" in page
    assert page.count('<article class="card"') == 5


def test_no_samples_are_asked_for(small: Finished) -> None:
    """A report may do without its browser and still says what was left out."""
    page = render_page(small.data(samples=0))
    assert "<article" not in page
    assert "0 of 21 samples" in page


def test_looks_are_listed_and_drawn(tmp_path: Path) -> None:
    """Every look that the judge took with its tools stands with its sample, tied to its region on the image."""
    write_world(tmp_path / "world.jsonl", 4, 3)
    finished = run_on(
        tmp_path / "world.jsonl", tmp_path / "home", judge="sim/judge-nearsighted", models=("sim/weak",), tools=("all",)
    )
    data = finished.data()
    looks = [look for view in sample_views(data) for _, look in view.looks]
    assert looks
    page = render_page(data)
    assert page.count('<li tabindex="0" data-mark="look-') == len(looks)
    assert page.count('class="mark look unlit"') == sum(len(look.regions) for look in looks)
    assert all(escape(look.text[:80]) in page for look in looks if "\n" not in look.text)
    assert f"looked closer for {inline('sim/weak')}" in render_document(data)


def test_an_image_is_in_the_page_once(small: Finished) -> None:
    """Samples that share a picture share its copy."""
    data = small.data()
    page = render_page(data)
    assert len(data.pictures) < len(data.samples)
    assert page.count("data:image/webp;base64,") == len(data.pictures)


def test_a_long_text_is_cut_and_says_so(hostile: Finished) -> None:
    """A text of any length costs the page no more than its beginning."""
    data = hostile.data()
    view = data.samples[0]
    long = {**view, "sample": {**view["sample"], "prompt": "x" * 50_000}}
    page = render_page(replace(data, samples=[long]))
    assert "x" * 6_000 in page
    assert "x" * 6_001 not in page
    assert "44,000 more characters: dokimasia show" in page


def test_a_missing_image_is_said_in_its_place(small: Finished, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A report is written although an image is gone, and says which."""
    home = tmp_path_factory.mktemp("copy") / "home"
    shutil.copytree(small.home, home)
    shutil.rmtree(home / "blobs")
    data = Finished(home, small.run).data()
    assert all(not picture.uri for picture in data.pictures.values())
    assert "its bytes are missing or damaged" in render_page(data)


@pytest.mark.parametrize("attack", ATTACKS)
def test_embedded_json_cannot_leave_its_element(attack: str) -> None:
    """JSON in a script element has no character that means anything to HTML, and reads back as it was."""
    text = script_json({attack: attack})
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == {attack: attack}


def test_text_between_backticks_is_code() -> None:
    """Sentences show commands as code; a measured piece stays as it is, and markup within a command is escaped."""
    assert draw_sentence(("as by `show <RUN>`: ", Span("`x`", "strong"))) == (
        'as by <span class="code">show &lt;RUN&gt;</span>: <span class="strong">`x`</span>'
    )


def test_text_is_escaped() -> None:
    """Markup, quotes and control characters lose their meaning; line ends and tabs stay."""
    assert escape("<a b='c'>\x00\x1b\n\t&\"") == "&lt;a b=&#x27;c&#x27;&gt;\ufffd\ufffd\n\t&amp;&quot;"
    assert label("<b>x</b>") == "&lt;b&gt;x&lt;/b&gt;"
    assert short_labels(["y" * 50]) == ["y" * 19 + "…" + "y" * 20]
