"""What a test of fingerprints is asked, and what decides its results."""

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from dokimasia.methods.diagnosis import WordsPlan, WordsRequest
from dokimasia.runs.requests import Option

NAME = "fingerprint"
"""What the method is called."""


class FingerprintRequest(WordsRequest):
    """Test whether reports on the models of RUN can be matched, without names, to answers that they were not written from.

    The trials of a pair share no sample, so that there are fewer where the data are few. The same command continues an
    interrupted test, or prints what it came to.
    """

    VERB: ClassVar[str] = "diagnose --fingerprint"

    responses: int = Field(
        default=30, ge=2, le=50, description="Answers of each model that a trial of --fingerprint shows."
    )
    trials: int = Field(
        default=10, ge=1, le=100, description="Trials a pair of --fingerprint, at most; they share no sample."
    )
    by_hand: bool = Field(
        default=False, description="--fingerprint: the judge only writes; a person matches what --export wrote."
    )
    export: Annotated[Path | None, Option(metavar="DIR", written=True)] = Field(
        default=None, description="Write all as CSV and PNG, and of --fingerprint the trials for a person."
    )


class FingerprintPlan(WordsPlan):
    """A test of fingerprints by its content: the tables of one half, and how many trials were drawn (a hash of them)."""

    responses: int
    tasks: int
    drawn: str
