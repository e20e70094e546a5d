"""Result files of other harnesses: Inspect, lmms-eval, VLMEvalKit, promptfoo, OpenAI Evals and any table, as one typed
table.
"""

from dokimasia.integrations.formats import is_results_file, missing_file, read_results, recognised
from dokimasia.integrations.results import FAILURES, FORMATS, Format, ItemFailure, ItemResult, ResultsFile
from dokimasia.integrations.tables import ColumnNames, check_columns, columns_of_file, parse_columns

__all__ = [
    "FAILURES",
    "FORMATS",
    "ColumnNames",
    "Format",
    "ItemFailure",
    "ItemResult",
    "ResultsFile",
    "check_columns",
    "columns_of_file",
    "is_results_file",
    "missing_file",
    "parse_columns",
    "read_results",
    "recognised",
]
