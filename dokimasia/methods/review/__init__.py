"""Circular peer review: a panel agrees on a description of each image (PerceptionRubrics, 3.3.1)."""

from dokimasia.graphs.versions import versions_of
from dokimasia.methods.review.figures import ReviewFigures, figures_of_run, review_items
from dokimasia.methods.review.request import ReviewPlan, ReviewRequest, accept, previews
from dokimasia.people.checks import open_checks
from dokimasia.runs.method import Method, PeopleParts, ReportParts, ResultParts, graph_stages, lazy_value
from dokimasia.runs.verbs import verb

METHOD: Method[ReviewRequest, ReviewPlan] = Method(
    name="review",
    title="a peer review",
    request=ReviewRequest,
    plan=ReviewPlan,
    accept=accept,
    stages=graph_stages("review.peer_review"),
    figures=figures_of_run,
    shape=lambda: ReviewFigures,
    graphs=versions_of("peer_review"),
    previews=previews,
    ended=open_checks,
    results=ResultParts(name="reviews", items=review_items),
    report=ReportParts(drawing=lazy_value("dokimasia.methods.review.report", "DRAWING")),
    people=PeopleParts(checked=True),
)

review = verb(METHOD, "review")
"""Have a panel agree on descriptions: `await review(ReviewRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = ["METHOD", "ReviewPlan", "ReviewRequest", "review"]
