"""The engine of the service: a queue of runs over one open home, a bounded number of them at work at once."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from dokimasia.domain.ports import Transport
from dokimasia.errors import ConfigError, DokimasiaError, InputError, Interrupted, StorageError
from dokimasia.log import Redactor, logger
from dokimasia.runs.deleting import delete_whole_run
from dokimasia.runs.ending import check_measures
from dokimasia.runs.forking import ForkRequest, keep_fork, prepare_fork
from dokimasia.runs.keeping import keep_accepted, run_row
from dokimasia.runs.lifecycle import ENDED, check_reached, going_on, resume
from dokimasia.runs.method import Accepted, Method
from dokimasia.runs.observer import Observer, Silent
from dokimasia.runs.preview import preview
from dokimasia.runs.registry import method_named
from dokimasia.runs.requests import Invocation, RunRequest
from dokimasia.runs.retrying import retryable
from dokimasia.runs.services import Stop, sharing
from dokimasia.runs.session import Session
from dokimasia.service.watching import Watch
from dokimasia.settings import Settings
from dokimasia.storage.decisions import take_in
from dokimasia.storage.home import Home
from dokimasia.storage.naming import name_run
from dokimasia.storage.questions import answers
from dokimasia.storage.results import record_event
from dokimasia.storage.runs import Run, get_run, set_status
from dokimasia.storage.threads import Queued, enqueue, leave_queue, left_behind, queue
