"""Data files to samples: a stream with every problem named by file and line, before anything is paid for."""

from dokimasia.datasets.images import MAX_PIXELS, read_image
from dokimasia.datasets.jsonl import DataReport, check, problems_text, read_jsonl, scan
from dokimasia.datasets.lines import Problem
from dokimasia.datasets.responses import GivenResponse, read_responses

__all__ = [
    "MAX_PIXELS",
    "DataReport",
    "GivenResponse",
    "Problem",
    "check",
    "problems_text",
    "read_image",
    "read_jsonl",
    "read_responses",
    "scan",
]
