"""The figures of a run that makes rubrics, typed: what `--json` prints."""

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.domain.options import Protocol
from dokimasia.report.fields import Count, Counts, Failures, Fraction, Share, Used
from dokimasia.runs.figure_models import DataFigures, Judge


class PerSample(Value):
    """Mean numbers of rubrics a sample; null without a set."""

    rubrics: float | None
    must_right: float | None
    easy_wrong: float | None


class Distribution(Value):
    """How many samples have how many rubrics, by that number."""

    rubrics: Counts
    must_right: Counts
    easy_wrong: Counts


class CaptionWords(Value):
    """The lengths of captions in words; null without a caption."""

    mean: float | None
    median: float | None
    longest: Count | None
    by_length: Counts = Field(description="captions by the words at which their step of a hundred begins")


class DroppedRubrics(Value):
    """Rubrics that were dropped, by whom."""

    rules: Count = Field(description="by rules")
    trial: Count = Field(description="by the trial, since they tested nothing; most are replaced")
    panel: Count = Field(description="by the panel's votes")


class PowerFigures(Value):
    """What the sets catch, measured on texts that had no part in choosing them; intervals clustered by image."""

    caught: Share = Field(description="of the errors planted in golden captions, those that a rubric of the set fails")
    caught_by_gate: Share = Field(description="of the same errors, those that a must-right rubric fails")
    dimensions: dict[str, Share] = Field(description="caught, by the dimension of the error")
    must_right: Share = Field(
        description="of the must-right rubrics, those that a response or a planted error of these texts fails"
    )
    easy_wrong: Share = Field(
        description="of the easy-wrong rubrics, those that a planted error fails; they are mined from all responses"
    )
    golden: Share = Field(description="of all rubrics, those that the golden caption passes")
    responses: Count = Field(description="responses that rubrics were measured on")
    failures: Failures


class RubricsFigures(Used, DataFigures):
    """The figures of a run that makes gated rubrics."""

    samples: Count = Field(description="captions to make rubrics from")
    protocol: Protocol = Field(description="ours: rubrics are tried before they are accepted; published: they are not")
    judge: Judge
    pool: tuple[str, ...] = Field(description="models whose responses easy-wrong rubrics are mined from")
    panel: tuple[str, ...] = Field(description="models that vote on rubrics")
    request: str = Field(description="what the pool's descriptions were asked for")
    failures: Failures
    sets: Count = Field(description="sets made, one a sample")
    images: Count = Field(description="different images of the samples that have a set")
    rubrics: Count
    must_right: Count = Field(description="must-right rubrics")
    easy_wrong: Count = Field(description="easy-wrong rubrics")
    per_sample: PerSample
    distribution: Distribution
    caption_words: CaptionWords
    domains: Counts = Field(description="sets by domain")
    kinds: Counts = Field(description="rubrics by kind")
    negative: Count = Field(description="rubrics that forbid")
    power: PowerFigures
    weak: Count = Field(
        description="sets whose easy-wrong rubrics were mined from fewer than 4 responses, and are weak"
    )
    replaced: Count = Field(description="rubrics that stand in the place of one that tested nothing")
    repaired: Count = Field(description="rubrics that were sent back and written anew")
    evidence: Fraction | None = Field(
        description="of the rubrics that quote evidence those whose quotation stands in the caption word for word, 0 to 1; "
        "null without any"
    )
    support: float | None = Field(
        ge=0, description="mean number of pool members that make an easy-wrong error; null without any"
    )
    dropped: DroppedRubrics
    unheard: Count = Field(description="times that a member of pool or panel had nothing to say")
    verified: Count = Field(description="sets whose caption a person stands behind")
    checked: Count = Field(description="sets whose rubrics a person decided on")
