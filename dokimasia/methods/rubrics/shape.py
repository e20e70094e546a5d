"""The figures of a run that makes rubrics, typed: what `--json` prints."""

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.runs.shapes import Count, Counts, DataFigures, Failures, Fraction, Judge, Used


class PerImage(Value):
    """Mean numbers of rubrics an image; null without a set."""

    rubrics: float | None
    must_right: float | None
    easy_wrong: float | None


class Distribution(Value):
    """How many images have how many rubrics, by that number."""

    rubrics: Counts
    must_right: Counts
    easy_wrong: Counts


class CaptionWords(Value):
    """The lengths of captions in words; null without a caption."""

    mean: float | None
    median: float | None
    longest: Count | None


class Dropped(Value):
    """Rubrics that were dropped, by whom."""

    rules: Count = Field(description="by rules")
    panel: Count = Field(description="by the panel's votes")


class RubricsFigures(Used, DataFigures):
    """The figures of a run that makes gated rubrics."""

    samples: Count = Field(description="captions to make rubrics from")
    judge: Judge
    pool: tuple[str, ...] = Field(description="models whose responses easy-wrong rubrics are mined from")
    panel: tuple[str, ...] = Field(description="models that vote on rubrics")
    request: str = Field(description="what the pool's descriptions were asked for")
    failures: Failures
    sets: Count = Field(description="sets made, one an image")
    rubrics: Count
    must_right: Count = Field(description="must-right rubrics")
    easy_wrong: Count = Field(description="easy-wrong rubrics")
    per_image: PerImage
    distribution: Distribution
    caption_words: CaptionWords
    domains: Counts = Field(description="sets by domain")
    kinds: Counts = Field(description="rubrics by kind")
    negative: Count = Field(description="rubrics that forbid")
    repaired: Count = Field(description="rubrics that were sent back and written anew")
    evidence: Fraction | None = Field(
        description="of the rubrics that quote evidence those whose quotation stands in the caption word for word, 0 to 1; "
        "null without any"
    )
    support: float | None = Field(
        ge=0, description="mean number of pool members that make an easy-wrong error; null without any"
    )
    dropped: Dropped
    unheard: Count = Field(description="times that a member of pool or panel had nothing to say")
    verified: Count = Field(description="sets whose caption a person stands behind")
    checked: Count = Field(description="sets whose rubrics a person decided on")
