"""Files of other harnesses: Inspect, lmms-eval, VLMEvalKit, promptfoo, OpenAI Evals and any table, as one typed table."""

from dokimasia.integrations.formats import read_results, recognised
from dokimasia.integrations.results import FAILURES, FORMATS, Format, ItemFailure, ItemResult, ResultsFile
from dokimasia.integrations.tables import parse_columns

__all__ = [
    "FAILURES",
    "FORMATS",
    "Format",
    "ItemFailure",
    "ItemResult",
    "ResultsFile",
    "parse_columns",
    "read_results",
    "recognised",
]
