"""Answers with Markdown and LaTeX on a page: what is rendered, that nothing of it loads or runs, and when the source stays."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.report.prose import MOST_CHARACTERS, MOST_NESTED, draw_formula, draw_prose, with_source

ELEMENTS = """
    p br hr strong em s code pre ul ol li blockquote div table thead tbody tr th td span math mrow mi mn mo mtext mspace
    mfrac msqrt mroot msub msup msubsup munder mover munderover mtable mtr mtd mstyle mpadded mphantom menclose
    mmultiscripts mprescripts none
"""
ATTRIBUTES = """
    class tabindex role aria-label start accent accentunder columnalign columnlines columnspacing depth display displaystyle
    fence form height largeop linebreak linethickness lspace mathvariant maxsize minsize movablelimits notation rowlines
    rowspacing rspace scriptlevel separator stretchy voffset width
"""

ATTACKS = (
    "<script>alert(1)</script> **b**",
    "**b** <img src=x onerror=alert(1)>",
    "**b** <svg/onload=alert(1)>",
    "# <iframe src=javascript:alert(1)>",
    "**b** [click](javascript:alert(1)) [data](data:text/html;base64,PHNjcmlwdD4=)",
    "**b** ![beacon](http://evil.example/x.png)",
    "**b** <http://evil.example/> http://evil.example/",
    "**b** [ref]\n\n[ref]: javascript:alert(1) 'title'",
    '```"><script>alert(1)</script>\ncode\n```',
    "```js onload=alert(1)\ncode </code></pre><script>alert(1)</script>\n```",
    "`</code><script>alert(1)</script>`",
    '| a |\n|:-:|\n| <img src=x onerror="alert(1)"> |',
    "1. <style>@import 'http://evil.example/x.css'</style>",
    "**b** &lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62;",
    r"$\href{javascript:alert(1)}{x}$",
    r"$\text{<img src=x onerror=alert(1)>}$",
    r"$\text{&lt;script&gt;alert(1)&lt;/script&gt;}$",
    r"$\style{background:url(http://evil.example/x)}{x}$ $\class{notice}{x}$",
    r"$\color{red\" onclick=\"alert(1)}x$",
    r"$x\unicode{60}script\unicode{62}$",
    "$$<script>alert(1)</script>$$",
    r"\(</math><script>alert(1)</script>\)",
    "\ue0000\ue001 **b** \ue00099\ue001",
    "**b** <!-- --><![CDATA[<script>alert(1)</script>]]>",
)


class Elements(HTMLParser):
    """The elements of HTML with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.odd: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.odd.append(data)

    def handle_decl(self, decl: str) -> None:
        self.odd.append(decl)

    def unknown_decl(self, data: str) -> None:
        self.odd.append(data)


def assert_harmless(drawn: str) -> None:
    """Only known elements with known attributes, none of which loads, links, styles or runs anything."""
    elements = Elements(drawn)
    assert {tag for tag, _ in elements.found} <= set(ELEMENTS.split())
    assert {name for _, attributes in elements.found for name in attributes} <= set(ATTRIBUTES.split())
    assert {attributes["class"] for _, attributes in elements.found if "class" in attributes} <= {
        "heading",
        "scroll",
        "formula",
        "tex",
    }
    assert elements.odd == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_of_an_answer_loads_or_runs(attack: str) -> None:
    """HTML, links, images, styles and formulas with addresses come out as text or not at all."""
    drawn = draw_prose(attack)
    assert drawn
    assert_harmless(drawn)


@given(st.text(st.sampled_from("*_`~#>-|$\\(){}[]<>&!\"'=\n ab1^:./\ue000\ue0010"), max_size=300))
def test_any_text_is_harmless(text: str) -> None:
    """Whatever marks are put together, the HTML holds known elements alone."""
    assert_harmless(draw_prose(text))


def test_markdown_is_rendered() -> None:
    """Emphasis, code, lists with their numbers, tables and headings; a heading is none of the page's own."""
    text = "## Steps\n\n**Bold**, *soft* and `co<de`.\n\n3. three\n4. four\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n"
    text += "\n```py\nx = 1\n```"
    drawn = draw_prose(text)
    assert '<p class="heading">Steps</p>' in drawn
    assert "<strong>Bold</strong>, <em>soft</em> and <code>co&lt;de</code>." in drawn
    assert '<ol start="3">\n<li>three</li>' in drawn
    assert '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>' in drawn
    assert "<pre><code>x = 1\n</code></pre>" in drawn


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"so $x^2$ is", '<math display="inline"><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow></math>'),
        (r"so \(a < b\) is", "<mo>&lt;</mo>"),
        (
            "$$\n\\frac{a}{b}\n$$",
            '<span class="formula" tabindex="0" role="group" aria-label="Formula"><math display="block">',
        ),
        (r"\[\begin{aligned}a&=b\\c&=d\end{aligned}\]", "<mtable"),
        (r"1. $\sqrt{2}$", "<li><math"),
        (r"| $\alpha$ |" "\n|---|\n| 1 |", "<th><math"),
    ],
)
def test_formulas_become_mathml(text: str, expected: str) -> None:
    """Between dollars, brackets and parentheses, in paragraphs, lists and tables."""
    assert expected in draw_prose(text)


@pytest.mark.parametrize(
    "text",
    [
        "The bus is red.\n\nFinal answer: red",
        "It costs $5, not $6.",
        "From $5-$6 to 7$",
        "snake_case_name and 2*3*4",
        "x < 5 & y > 3",
        "",
        "**" * 5 + "x" * MOST_CHARACTERS,
        "> " * (MOST_NESTED + 2) + "deep",
    ],
)
def test_a_text_without_markup_stays_its_source(text: str) -> None:
    """Plain texts, prices and names, and what is too long or nested too deep to be rendered whole."""
    assert draw_prose(text) == ""
    assert with_source(text, "<div>source</div>") == "<div>source</div>"


def test_what_cannot_be_converted_is_shown_as_written() -> None:
    """An unknown command or a broken formula is code, the rest of the text is rendered; code keeps its dollars."""
    assert draw_prose(r"**a** $\nosuch{x}$") == '<p><strong>a</strong> <code class="tex">$\\nosuch{x}$</code></p>\n'
    assert draw_formula(r"\frac{", block=False) == ""
    assert draw_formula("{" * 4_000, block=True) == ""
    assert draw_prose("`$x^2$` costs\n```\n$$y$$\n```").count("$") == 6


def test_multiplication_is_no_emphasis() -> None:
    """A star between two digits stays beside real emphasis."""
    assert draw_prose("**so** 2*3*4") == "<p><strong>so</strong> 2*3*4</p>\n"


def test_a_library_that_fails_leaves_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever rendering raises, the page has the answer as it was written."""

    def broken(text: str) -> str:
        raise RecursionError(text)

    monkeypatch.setattr("dokimasia.report.prose._rendered", broken)
    assert with_source("**b**", "<div>**b**</div>") == "<div>**b**</div>"


def test_the_source_is_one_click_away() -> None:
    """The rendered text comes first, its source in an element that opens with the keyboard and without a script."""
    drawn = with_source("**b**", '<div class="text">**b**</div>', rest="<i>cut</i>")
    assert re.fullmatch(
        r'<div class="prose" dir="auto"><p><strong>b</strong></p>\n</div><i>cut</i><details class="source">'
        r'<summary>As written</summary><div class="text">\*\*b\*\*</div></details>',
        drawn,
    )
