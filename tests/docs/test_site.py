"""The site: it builds with warnings as errors, asks no other host for anything, and its links lead somewhere."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

import dokimasia
from dokimasia.cli.main import VERBS, group
from dokimasia.graphs.drive import compiled
from dokimasia.graphs.runnable import own_graph
from dokimasia.graphs.signatures import SIGNATURES

pytestmark = pytest.mark.full

ROOT = Path(__file__).parent.parent.parent
LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "link": "href",
}
KINDS_OF_LINK = {"canonical", "next", "prev", "edit"}
"""Relations of a <link> that load nothing."""


class Page(HTMLParser):
    """What a page loads, where it links, and what can be linked to in it."""

    def __init__(self, path: Path) -> None:
        """Read the page."""
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.classes: set[str] = set()
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take down one element."""
        found = {name: value or "" for name, value in attrs}
        self.ids.update(value for name, value in found.items() if name in {"id", "name"})
        self.classes.update(found.get("class", "").split())
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag in LOADED and LOADED[tag] in found and found.get("rel") not in KINDS_OF_LINK:
            self.loads.append(found[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it, elsewhere."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "WARNING" not in done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    """Every page of the site, read."""
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_page_is_there_and_filled(site: Path, pages: dict[Path, Page]) -> None:
    """Each Markdown file became a page, nothing of the hooks did, and no mark was left standing."""
    sources = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert sources == {path.relative_to(site) for path in pages} - {Path("404.html")}
    assert not (site / "hooks").exists()
    for path, page in pages.items():
        assert not re.search(
            r"&lt;!-- (commands|figures|graphs|sections|modules)|<!-- (commands|figures|graphs|sections|modules)",
            page.text,
        ), path
        assert "Sentinel" not in page.text, path


def test_nothing_is_loaded_from_another_host(site: Path, pages: dict[Path, Page]) -> None:
    """Scripts, styles, fonts and pictures lie in the site, and no diagram waits for a library from elsewhere."""
    for path, page in pages.items():
        assert page.loads, path
        for address in page.loads:
            assert not urlsplit(address).netloc, f"{path.name} loads {address}"
            if path.name != "404.html":
                assert (path.parent / unquote(urlsplit(address).path)).is_file(), f"{path.name} loads {address}"
        assert "mermaid" not in page.classes, path
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", text), style


def test_every_link_leads_somewhere(pages: dict[Path, Page]) -> None:
    """A link to a page finds the page, and one to a place in it finds the place."""
    for path, page in pages.items():
        if path.name == "404.html":
            continue
        for link in page.links:
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            address, place = urldefrag(link)
            target = (path.parent / unquote(address)).resolve() if address not in {"", "."} else path
            assert target.is_file(), f"{path.name}: {link}"
            if place and target in pages:
                assert unquote(place) in pages[target].ids, f"{path.name}: {link}"


def test_the_commands_are_those_of_the_program(site: Path) -> None:
    """Every verb has its section, and every option that it takes is named in it or among the common ones."""
    page = (site / "commands.html").read_text(encoding="utf-8")
    import click

    context = click.Context(group, info_name="dokimasia")
    for verb in VERBS:
        assert f'id="{verb}"' in page
        command = group.get_command(context, verb)
        assert command is not None
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.opts[-1] in page, (verb, option.opts)


def test_the_pictures_are_those_of_the_compiled_graphs(pages: dict[Path, Page], site: Path) -> None:
    """Each graph has a picture with all its steps, and each step and decision is told in words."""
    text = pages[site / "graphs.html"].text
    pictures = re.findall(r"<svg class=\"graph\".*?</svg>", text, re.DOTALL)
    assert len(pictures) == len(SIGNATURES)
    for picture, name in zip(pictures, SIGNATURES, strict=True):
        graph = own_graph(name)
        assert f"<title>The graph {name}, version {graph.VERSION}</title>" in picture
        for step in compiled(graph).get_graph().nodes:
            assert f">{step.strip('_').replace('_', ' ')}</text>" in picture
    assert not re.search(r"<td></td>", text), "a step or a decision without a docstring"


def test_drawings_of_the_reference_are_code(pages: dict[Path, Page]) -> None:
    """The mark that begins a drawing in a docstring stands on no page: the drawing is a block of code by its indentation."""
    for path, page in pages.items():
        assert not re.search(r"<p>(.*\s)?::\s*</p>", page.text), path


def test_pages_opened_as_files_say_where_the_search_is(pages: dict[Path, Page]) -> None:
    """Each page loads what says, where it is opened as a file, that there is no search and how to have one."""
    for path, page in pages.items():
        assert any(address.endswith("javascripts/search.js") for address in page.loads), path


def test_the_reference_has_the_front_door_and_every_module(pages: dict[Path, Page], site: Path) -> None:
    """Each public name, and each module of the rooms that programs are built with, has its entry."""
    door = pages[site / "reference/index.html"].ids
    for name in dokimasia.__all__:
        assert f"dokimasia.{name}" in door or name == "__version__", name
    for room in ("domain", "algorithms", "parsing", "agents", "graphs"):
        ids = pages[site / f"reference/{room}.html"].ids
        for path in (ROOT / "dokimasia" / room).glob("[!_]*.py"):
            assert f"dokimasia.{room}.{path.stem}" in ids, path
