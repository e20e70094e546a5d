"""Readers of data files: samples as a stream, with every problem named by file and line before any paid call."""

from dokimasia.datasets.formats import READERS, Reader, format_of, register_reader
from dokimasia.datasets.hub import pinned
from dokimasia.datasets.images import MAX_PIXELS, Embedded, OnDisk, read_image
from dokimasia.datasets.lines import Problem, Row
from dokimasia.datasets.mapping import parse_mapping
from dokimasia.datasets.opening import (
    DataReport,
    Remark,
    check,
    open_dataset,
    plain_report,
    problems_text,
    read_jsonl,
    scan,
)
from dokimasia.datasets.responses import (
    GivenResponse,
    dataset_of_predictions,
    name_and_file,
    named_file,
    read_responses,
)

__all__ = [
    "MAX_PIXELS",
    "READERS",
    "DataReport",
    "Embedded",
    "GivenResponse",
    "OnDisk",
    "Problem",
    "Reader",
    "Remark",
    "Row",
    "check",
    "dataset_of_predictions",
    "format_of",
    "name_and_file",
    "named_file",
    "open_dataset",
    "parse_mapping",
    "pinned",
    "plain_report",
    "problems_text",
    "read_image",
    "read_jsonl",
    "read_responses",
    "register_reader",
    "scan",
]
