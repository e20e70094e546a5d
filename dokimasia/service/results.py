"""The sections of a run's report as pages show them, drawn once for each state of the home."""

import asyncio
from dataclasses import replace
from typing import NamedTuple

from markupsafe import Markup

from dokimasia.domain.identity import JsonObject
from dokimasia.errors import NotFound
from dokimasia.report.blocks import Browser, Section
from dokimasia.report.data import ReportData
from dokimasia.report.drawing import Charts, draw_section
from dokimasia.report.page import heading
from dokimasia.report.sections import sections_of
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.reading.reporting import report_data
from dokimasia.service.drawing import block_on_page
from dokimasia.service.forms import groups_of, labels_of
from dokimasia.service.state import Service
from dokimasia.storage.people.corrections import count_corrections
from dokimasia.storage.runs import Run, get_run
from dokimasia.storage.usage import reached_counts

SOON = 0.7
"""Seconds for which a page waits for figures before it shows that they are being computed."""


TWO_MODELS = "the page Compare"
"""The command that compares two models of a run, worded as a link for the service's pages."""


class DrawnReport(NamedTuple):
    """A run's sections as HTML, with their menu, charts, heading and simulated models."""

    body: Markup
    menu: tuple[tuple[str, str], ...]
    charts: Charts
    heading: str
    simulated: tuple[str, ...]


def results_of(service: Service, run: Run, *, wait: bool) -> DrawnReport | None:
    """Return the sections of a run; without `wait`, None if they are not ready soon."""
    key = ("results", *_cache_key(service, run))
    return service.cache.get(key, lambda: _draw_report(service, run), seconds=None if wait else SOON)


def figures_of(service: Service, run: Run) -> JsonObject:
    """Return a run's figures, cached for each state of the home unless the run is at work."""
    if run.status in ("queued", "running"):
        return method_of(run).json_figures(service.home, run)
    key = ("figures", *_cache_key(service, run))
    return service.cache.get(key, lambda: method_of(run).json_figures(service.home, run)) or {}


def _cache_key(service: Service, run: Run) -> tuple[object, ...]:
    return (
        run.id,
        run.status,
        run.updated_at,
        _home_version(service),
        reached_counts(service.home, [run.id]).get(run.id),
    )


def _home_version(service: Service) -> object:
    """Return a version of the home that changes with each run that ends and each decision or correction by a person.

    Trees, failure modes and diagnoses add to the pages of other runs.
    """
    return count_corrections(service.home), service.home.one(
        "SELECT count(*), max(updated_at), (SELECT count(*) FROM decisions), (SELECT count(*) FROM check_items) "
        "FROM runs WHERE status = 'done'"
    )


def _draw_report(service: Service, run: Run) -> DrawnReport:
    data: ReportData = asyncio.run(report_data(service.home, run, samples=0, redact=service.redact))
    data = replace(data, samples_page=f"/runs/{_samples_run(service, run)}/samples")
    sections = [section for section in sections_of(data) if not _samples_alone(section)]
    labels = labels_of(groups_of(method_of(run).request))
    sections = [
        replace(section, blocks=[block_on_page(block, labels) for block in section.blocks]) for section in sections
    ]
    charts = Charts()
    body = Markup("\n".join(draw_section(section, charts, browser=lambda note: "") for section in sections))
    body = body.replace(TWO_MODELS, Markup('<a href="/compare?runs={}">compare two models</a>').format(run.id))
    menu = tuple((section.id, section.menu or section.title) for section in sections)
    return DrawnReport(body, menu, charts, heading(data), tuple(data.simulated))


def _samples_run(service: Service, run: Run) -> str:
    """Return the id of the run whose samples are linked on a run's page.

    It is the run itself or, if its groups of samples are those of the run it rests on, that run, which has the whole
    answers and all filters.
    """
    method = method_of(run)
    source: object = getattr(method.read(run)[0], "source", None)
    if method.report.adds is None or method.report.adds.groups is None or not isinstance(source, str):
        return run.id
    try:
        groups = method.report.adds.groups(service.home, get_run(service.home, source))
    except NotFound:
        return run.id
    if groups and groups == method.report.adds.groups(service.home, run):
        return source
    return run.id


def _samples_alone(section: Section) -> bool:
    """Return whether a section only browses samples, which have their own pages."""
    return all(isinstance(block, Browser) for block in section.blocks)
