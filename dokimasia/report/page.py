"""The whole report as one self-contained HTML page, with styles, scripts, charts, figures and images."""

import base64
import hashlib
from functools import cache
from importlib import resources

import orjson

from dokimasia.report.browser import draw_browser
from dokimasia.report.data import SIMULATED_NOTE, ReportData
from dokimasia.report.drawing import Charts, draw_section, escape
from dokimasia.report.sections import sections_of


def render_page(data: ReportData) -> str:
    """Return the page; equal data give equal bytes.

    Only the page's own two scripts run, allowed by their hashes. Nothing is loaded, and text on the page can neither
    run nor load anything.
    """
    sections = sections_of(data)
    charts = Charts()
    body = "\n".join(
        draw_section(section, charts, browser=lambda note: draw_browser(data, note)) for section in sections
    )
    menu = "".join(
        f'<a href="#{escape(section.id)}">{escape(section.menu or section.title)}</a>' for section in sections
    )
    scripts = [*([_asset("plotly.js")] if charts.figures else []), _asset("page.js")]
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(script_hash(script) for script in scripts)}",
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    simulated = ""
    if data.simulated:
        names = escape(", ".join(data.simulated))
        simulated = f'<p class="simulated">{escape(SIMULATED_NOTE)} ({names})</p>\n'
    run = f", run {data.facts.run}" if data.facts.run else ""
    title = f"Dokimasia: {data.facts.data_name}{run}"
    running = "\n".join(f"<script>{script}</script>" for script in scripts)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="Dokimasia {escape(data.facts.written_by)}">
<title>{escape(title)}</title>
<style>
{_asset("page.css")}</style>
</head>
<body>
{simulated}<a class="skip" href="#content">Skip to the content</a>
<header class="top"><strong class="brand">Dokimasia</strong><nav aria-label="Sections">{menu}</nav>
<button id="theme" type="button" hidden>Dark</button></header>
<main id="content" tabindex="-1">
<h1>{escape(heading(data))}</h1>
{body}
</main>
<script type="application/json" id="figures">{script_json(data.summary)}</script>
<script type="application/json" id="charts">{script_json(charts.figures)}</script>
{running}
</body>
</html>
"""


def script_json(value: object) -> str:
    """Return JSON for a script element, escaped so that no character can end the element or begin a comment."""
    text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def _asset(name: str) -> str:
    """Return an asset of the page with normalised line ends, so that a script's hash matches the browser's."""
    text = resources.files("dokimasia.report").joinpath(name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def script_hash(script: str) -> str:
    """Return the source expression by which the page's Content Security Policy allows a script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def heading(data: ReportData) -> str:
    """Return the heading of a run's page: the number of models and the data, or the kind of run."""
    models = len({model.name for model in data.facts.models if model.role in {"candidate", "model"}})
    if not models:
        name = data.drawing.name
        return f"{name[0].upper()}{name[1:]}: {data.facts.data_name}"
    return f"{models} {'model' if models == 1 else 'models'} on {data.facts.data_name}"
