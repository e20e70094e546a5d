"""A model's text as HTML: Markdown without HTML, links or images, and LaTeX as MathML; nothing in it loads or runs."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, tostring

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MOST_CHARACTERS = 20_000
"""The maximum number of characters of a rendered text; a longer one is shown as its source."""

MOST_FORMULAS = 200
"""The maximum number of a text's formulas that become MathML; others stay as written."""

MOST_NESTED = 16
"""The maximum levels of nesting: below them the Markdown parser omits text, so the source is shown instead."""

_SCROLLED = '<div class="scroll" tabindex="0" role="group" aria-label="Table">'
_MARKUP = re.compile(
    r"\*\*\S|__\S|`|~~\S|\\\(|\\\[|\$|(?<![\w*])\*[^\s*][^\n*]*\*"
    r"|^ {0,3}(?:#{1,6}\s|>\s|[-*+]\s|[0-9]{1,9}[.)]\s|\|.*\||[-*_]{3,}\s*$)",
    re.MULTILINE,
)
"""The signs of markup; a text without any is plain, but one with some may still render as plain paragraphs."""
_ASIDE = re.compile(
    r"(?P<code>^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n(?:.*?^ {0,3}(?P=fence)[`~]*[ \t]*$|.*)"
    r"|(?P<ticks>`+)(?!`).{1,2000}?(?<!`)(?P=ticks)(?!`))"
    r"|\$\$(?P<display>.{1,2000}?)\$\$|\\\[(?P<bracket>.{1,2000}?)\\\]|\\\((?P<inline>.{1,2000}?)\\\)"
    r"|(?<![\\$\w])\$(?P<dollar>[^\s$](?:[^$\n]{0,400}[^\s$\\])?)\$(?![\w$])"
    r"|(?<=\w)(?P<times>\*)(?=\w)",
    re.DOTALL | re.MULTILINE,
)
"""Code, which is kept, formulas, which are set aside, and a multiplication sign, which is not emphasis."""
_TEX = re.compile(r"[\\^_{}=<>]|^\S{1,12}$")
"""Matches the text between two dollar signs if it is a formula rather than two prices."""
_OPEN, _CLOSE = "\ue000", "\ue001"
"""The characters around the number of a formula set aside while the Markdown around it is parsed."""
_PLACE = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")
_ELEMENTS = """
    math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow mspace msqrt mstyle msub
    msubsup msup mtable mtd mtext mtr munder munderover none
"""
"""The permitted elements of a formula."""
_VALUES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern)
    for names, pattern in {
        "accent accentunder displaystyle fence largeop movablelimits separator stretchy": "true|false",
        "display": "block|inline",
        "form": "prefix|infix|postfix",
        "linethickness": r"0|[0-9.]{1,4}(?:em|ex|px|pt)?",
        "lspace rspace width height depth voffset minsize maxsize": r"-?[0-9]?\.?[0-9]{1,5}(?:em|ex)",
        "columnalign": r"(?:left|right|center| )+",
        "columnlines rowlines": r"(?:none|solid|dashed| )+",
        "columnspacing rowspacing": r"(?:[0-9]?\.?[0-9]{1,3}(?:em|ex)| )+",
        "mathvariant": r"[a-z-]{1,30}",
        "notation": r"[a-z ]{1,60}",
        "scriptlevel": r"[+-]?[0-3]",
        "linebreak": "newline",
    }.items()
    for name in names.split()
}
"""The permitted attributes of a formula, and their values, which exclude addresses, styles, classes
and event handlers.
"""


def draw_prose(text: str) -> str:
    """Return a text's Markdown and LaTeX as HTML; empty if it has no markup, is too long, or cannot be rendered.

    HTML in the text, links and images stay as written, as text.
    """
    if len(text) > MOST_CHARACTERS or _MARKUP.search(text) is None:
        return ""
    try:
        return _rendered(text)
    except Exception:  # whatever a text does to a library, it stays readable as written
        return ""


def with_source(text: str, written: str, *, rest: str = "") -> str:
    """Return the HTML of a model's text: rendered, with its source one click away, or the source alone.

    Args:
        text: the text to render.
        written: the HTML of the whole source.
        rest: HTML after the rendered text, such as a note that it was cut; `written` contains it too.
    """
    prose = draw_prose(text)
    if not prose:
        return written
    return (
        f'<div class="prose" dir="auto">{prose}</div>{rest}'
        f'<details class="source"><summary>As written</summary>{written}</details>'
    )


@lru_cache(maxsize=512)  # a page is drawn for each visit
def _rendered(text: str) -> str:
    formulas: list[tuple[str, str]] = []

    def aside(match: re.Match[str]) -> str:
        body = next((match[name] for name in ("display", "bracket", "inline", "dollar") if match[name]), "")
        written = match[0]
        if match["times"]:
            return r"\*"
        if not body.strip() or len(formulas) >= MOST_FORMULAS or (match["dollar"] and not _TEX.search(body)):
            return written
        drawn = draw_formula(body, block=bool(match["display"] or match["bracket"]))
        if not drawn:
            drawn = f'<code class="tex">{html.escape(written)}</code>'
        formulas.append((written, drawn))
        return f"{_OPEN}{len(formulas) - 1}{_CLOSE}"

    plain = text.replace(_OPEN, "").replace(_CLOSE, "")
    parser = _parser()
    tokens = parser.parse(_ASIDE.sub(aside, plain))
    if not (formulas or _has_markup(tokens)) or any(token.level > MOST_NESTED for token in _every(tokens)):
        return ""
    for token in _every(tokens):
        _make_harmless(token, formulas)
    drawn = str(parser.renderer.render(tokens, parser.options, {}))
    drawn = drawn.replace("<table>", f"{_SCROLLED}<table>").replace("</table>", "</table></div>")
    return _PLACE.sub(lambda place: formulas[int(place[1])][1] if int(place[1]) < len(formulas) else "", drawn)


def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 20})
    parser.enable(["table", "strikethrough"])
    parser.disable(["image", "link", "autolink", "html_inline", "html_block", "reference"])
    return parser


def _every(tokens: "Sequence[Token]") -> "Iterator[Token]":
    for token in tokens:
        yield token
        yield from _every(token.children or ())


def _has_markup(tokens: "Sequence[Token]") -> bool:
    usual = {"paragraph_open", "paragraph_close", "inline", "text", "softbreak", "hardbreak"}
    return any(token.type not in usual for token in _every(tokens))


def _make_harmless(token: "Token", formulas: Sequence[tuple[str, str]]) -> None:
    """Remove from a token what the page does not support: styles, languages as classes, and competing headings."""
    start = token.attrs.get("start")
    token.attrs = {"start": int(start)} if token.type == "ordered_list_open" and start else {}
    token.info = ""
    if token.type in ("heading_open", "heading_close"):
        token.tag = "p"
        token.attrs = {"class": "heading"} if token.nesting == 1 else {}
    if token.type in ("code_inline", "code_block", "fence"):
        token.content = _PLACE.sub(lambda place: _written(place, formulas), token.content)


def _written(place: re.Match[str], formulas: Sequence[tuple[str, str]]) -> str:
    number = int(place[1])
    if number < len(formulas):
        return formulas[number][0]
    return ""


@lru_cache(maxsize=2048)
def draw_formula(tex: str, *, block: bool) -> str:
    """Return a LaTeX formula as MathML; empty if it has an unknown command, or cannot be converted."""
    from latex2mathml.converter import convert_to_element

    try:
        root = convert_to_element(tex.strip().replace("{aligned}", "{align*}"), display="block" if block else "inline")
        for element in root.iter():
            _check(element)
        mathml = tostring(root, encoding="unicode", short_empty_elements=False)
        if block:
            return f'<span class="formula" tabindex="0" role="group" aria-label="Formula">{mathml}</span>'
        return mathml
    except Exception:
        return ""


def _check(element: Element) -> None:
    """Reduce an element to its harmless parts.

    Raises:
        ValueError: it is not an element of a formula, or shows a command instead of its meaning.
    """
    if element.tag not in _ELEMENTS.split():
        raise ValueError(f"{element.tag} is no element of a formula")
    for name, value in list(element.attrib.items()):
        allowed = _VALUES.get(name)
        if allowed is None or allowed.fullmatch(value) is None:
            del element.attrib[name]
    element.text = html.unescape(element.text) if element.text else element.text
    if element.tag in ("mi", "mo") and re.fullmatch(r"&|\\.+", element.text or ""):
        raise ValueError(f"{element.text} is not known")
