"""The request of a comparison of judging methods, its plan, its judgements, and its acceptance."""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from dokimasia.agents import Ask
from dokimasia.agents.asking import rendered_asks
from dokimasia.agents.evaluation import (
    PLACEHOLDER_CHAIN,
    PLACEHOLDER_CRITERIA,
    criteria_previews,
    judge_equivalence,
    score_criteria,
    write_chain,
)
from dokimasia.agents.judging import (
    compare_responses,
    extract_without_chain,
    rank_responses,
    rate_response,
    score_aspects,
    score_compared,
)
from dokimasia.agents.schemas import takes_schema
from dokimasia.algorithms.criteria import COUNT, counted
from dokimasia.datasets.annotations import GivenRanking, read_rankings, unknown_in
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.criterion import PUBLISHED_COUNT
from dokimasia.domain.identity import value_id
from dokimasia.domain.judgement import Provenance
from dokimasia.domain.judging.judgements import ComparedCriteria, ComparedCriterion, HumanRanking, HumanRankings
from dokimasia.domain.options import GraphOptions, Protocol
from dokimasia.domain.sample import Sample
from dokimasia.domain.wording import is_or_are, shortened
from dokimasia.errors import ConfigError, DataError, InputError
from dokimasia.prompts import PromptLibrary, Rendered
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, ExpectedCalls, SampleSize, total_estimate
from dokimasia.runs.plans import AnyOrder, DataPlan, prompts_used
from dokimasia.runs.requests import MOST_REPEATS, DataRequest, Models, Option
from dokimasia.runs.responses import ResponsesFiles, check_unchanged, files_text, read_answer_files
from dokimasia.runs.session import Accepted, Session, StoredSamples
from dokimasia.storage.runs import Run
from dokimasia.storage.trees.versions import named_tree, tree_criteria

METHODS = (
    "pointwise",
    "batch",
    "scan",
    "atom",
    "atom-no-chain",
    "atom-no-decomposition",
    "atom-no-weights",
)
"""All methods, in the order of the paper's tables: baselines, atomic criteria, and ablations."""

PROMPTS: dict[str, tuple[str, ...]] = {
    "pointwise": ("pointwise",),
    "batch": ("batch_ranking",),
    "scan": ("scan_criteria", "scan_scores"),
    "atom-no-chain": ("criteria_no_chain",),
    "atom-no-decomposition": ("solver", "equivalence", "aspect_scores"),
}
FEWEST_AUXILIARY = 2
MOST_NAMED = 3
RESPONSE_TOKENS, CHAIN_TOKENS, CRITERIA_TOKENS, CHECK_TOKENS, SCORES_TOKENS, WORD_TOKENS = 300, 600, 400, 120, 60, 15

COMPARED = ComparedCriteria(
    criteria=(ComparedCriterion(criterion="(what tells responses apart)", weight=10),),
    provenance=Provenance(call="", model="", prompt="", prompt_version=0, prompt_hash=""),
)
RESPONSE, OTHER_RESPONSE = "(a response)", "(another response)"
"""Placeholders in previews for text that models write."""

ResponseTexts = dict[str, dict[str, str]]
"""Texts of responses by sample and model."""


Basis = Literal["chain", "criteria", "chainless", "compared"]
"""A sample's chain; the criteria drawn from it; criteria drawn without a chain; criteria from auxiliary responses."""

RESTS_ON: dict[str, tuple[Basis, ...]] = {
    "pointwise": (),
    "batch": (),
    "scan": ("compared",),
    "atom": ("chain", "criteria"),
    "atom-no-chain": ("chainless",),
    "atom-no-decomposition": ("chain",),
    "atom-no-weights": ("chain", "criteria"),
}
"""What must exist before a response is judged, by method and in order."""


class JudgingRequest(DataRequest):
    """Find which way of judging ranks the responses to DATA as people do: pairwise accuracy, by judge and method.

    The models whose responses are judged are not asked. The calls of `atom` are those of an evaluation of the same
    responses, so calls already paid for there are not sent again.
    """

    VERB: ClassVar[str] = "compare-judging"

    responses: ResponsesFiles = Field(
        min_length=1, description="The responses that are judged: JSON lines of id, model, response, or predictions."
    )
    rankings: Annotated[Path, Option(exists=True, file=True)] = Field(
        description="How people rank them: JSON lines of id, annotator, and ranking or scores (see docs/data.md)."
    )
    judges: Models = Field(description="The judges, separated by commas.")
    methods: tuple[str, ...] = Field(
        default=(), description=f"{', '.join(METHODS)}; by default all (scan only with --auxiliary)."
    )
    auxiliary: Annotated[Path | None, Option(exists=True, file=True)] = Field(
        default=None, description="Responses of models that are never judged, from which scan draws its criteria."
    )
    orders: int = Field(default=2, ge=1, le=24, description="Orders in which batch is shown the responses of a sample.")
    repeats: int = Field(
        default=1, ge=1, le=MOST_REPEATS, description="Judgements of a response by every method but batch."
    )
    protocol: Protocol = Field(
        default="default", description="Of atom: published is as in the paper (see docs/departures.md)."
    )
    show_image: bool = Field(
        default=False, description="Show the judge the image, too, where atom's methods score a response."
    )
    tree: Annotated[str | None, Option(metavar="TREE")] = Field(
        default=None,
        description="Group the tables by the categories of this capability tree in place of the data's: a sample is in each "
        "category that one of its criteria is in.",
    )


class JudgingPlan(DataPlan):
    """The plan of a comparison.

    `responses` and `auxiliary` are hashes of the response files; `rankings` is the id of people's rankings in the home.
    """

    judges: Annotated[tuple[ModelSpec, ...], AnyOrder]
    methods: tuple[str, ...]
    responses: str
    auxiliary: str | None = None
    rankings: str
    orders: int
    repeats: int
    protocol: Protocol
    show_image: bool
    tree: str | None = None

    @property
    def judge_name(self) -> str:
        """The judge's displayed name; empty with several judges."""
        if len(self.judges) == 1:
            return self.judges[0].ref.name
        return ""

    def options_of(self, judge: str) -> GraphOptions:
        """Return the options of the graphs for a judge."""
        return GraphOptions(
            judge=judge, models=self.models, published=self.protocol == "published", show_image=self.show_image
        )

    @property
    def asking_methods(self) -> list[str]:
        """The distinct methods that ask a judge, in order."""
        return list(dict.fromkeys(map(source_of, self.methods)))

    @property
    def bases(self) -> list[Basis]:
        """All bases of judgements, in the order in which they are made."""
        return list(dict.fromkeys(basis for method in self.methods for basis in RESTS_ON[method]))


class JudgingUnit(NamedTuple):
    """A judgement: the nth of a response of `model` or, without a model, of all responses in the nth order."""

    name: str
    method: str
    judge: str
    sample: str
    model: str
    draw: int


def basis_item(basis: Basis, judge: str, sample: str) -> str:
    """Return the name of the item that makes a basis for a sample's judgements."""
    return f"{basis}/{judge}/{sample}"


def source_of(method: str) -> str:
    """Return the method whose judgements a method uses: its own, or those that it merely reweights."""
    if method == "atom-no-weights":
        return "atom"
    return method


def units_of(plan: JudgingPlan, method: str, judge: str, sample: str, models: Iterable[str]) -> Iterator[JudgingUnit]:
    """Yield the judgements of the responses to a sample by one judge and method."""
    if method == "batch":
        for order in range(plan.orders):
            yield JudgingUnit(f"batch/{judge}/{sample}/{order}", method, judge, sample, "", order)
        return
    for model in models:
        for repeat in range(plan.repeats):
            yield JudgingUnit(f"{method}/{judge}/{sample}/{model}/{repeat}", method, judge, sample, model, repeat)


def count_items(plan: JudgingPlan, ranked: Mapping[str, Sequence[str]]) -> int:
    """Return the number of items of a comparison: bases and judgements."""
    single = sum(map(len, ranked.values())) * plan.repeats
    items = len(plan.bases) * len(ranked)
    for method in plan.asking_methods:
        items += len(ranked) * plan.orders if method == "batch" else single
    return len(plan.judges) * items


def all_units(plan: JudgingPlan, ranked: Mapping[str, Iterable[str]]) -> dict[str, JudgingUnit]:
    """Return all judgements of a run, by the item's name."""
    units: dict[str, JudgingUnit] = {}
    for sample, models in ranked.items():
        for spec in plan.judges:
            for method in plan.asking_methods:
                for unit in units_of(plan, method, spec.ref.name, sample, models):
                    units[unit.name] = unit
    return units


def ranked_models(rankings: Iterable[HumanRanking]) -> dict[str, tuple[str, ...]]:
    """Return, by sample, the models that someone ranked against another model, in alphabetical order."""
    models: dict[str, set[str]] = {}
    for ranking in rankings:
        if len(ranking.scores) > 1:
            models.setdefault(ranking.sample, set()).update(ranking.scores)
    return {sample: tuple(sorted(names)) for sample, names in models.items()}


def chosen_methods(request: JudgingRequest) -> tuple[str, ...]:
    """Return the methods to compare, in the order of the tables.

    Raises:
        ConfigError: a method is unknown or named twice, or scan lacks auxiliary responses.
    """
    names = request.methods
    if not names:
        names = tuple(method for method in METHODS if method != "scan" or request.auxiliary is not None)
    for name in names:
        if name not in METHODS:
            raise ConfigError(f"--methods: there is no judging method {name!r}; there are {', '.join(METHODS)}")
        if names.count(name) > 1:
            raise ConfigError(f"--methods names {name} twice")
    if "scan" in names and request.auxiliary is None:
        raise ConfigError(
            "scan draws its criteria from responses of models that are not judged: name a file of them with --auxiliary "
            "(JSON lines of id, model, response), or leave scan out of --methods"
        )
    return tuple(method for method in METHODS if method in names)


async def accept(request: JudgingRequest, session: Session) -> Accepted[JudgingPlan]:
    """Validate a request, and return its plan, its estimate, its samples and people's rankings.

    Raises:
        InputError: data, files, configuration or options are unusable.
    """
    methods = chosen_methods(request)
    if not request.judges:
        raise ConfigError("--judges names no judge")
    session.models(request.judges, "--judges")
    judges = tuple(map(session.judge, request.judges))
    responses = response_texts(request.responses, request.data)
    data = await asyncio.to_thread(session.store_samples, request)
    rankings = _rankings(request, data, responses)
    ranked = ranked_models(rankings.rankings)
    if not ranked:
        raise DataError(
            f"{request.rankings}: nobody ranks two responses to one sample of {request.data}, so there is no pair to compare"
        )
    plan = JudgingPlan(
        data=data.hash,
        limit=request.limit,
        seed=request.seed,
        judges=judges,
        methods=methods,
        auxiliary=_auxiliary_hash(request, methods, ranked),
        responses=_hash(request.responses, request.data),
        rankings=value_id(rankings),
        orders=request.orders if "batch" in methods else 1,
        repeats=request.repeats,
        protocol=request.protocol,
        show_image=request.show_image,
        tree=None if request.tree is None else _tree(request.tree, session, ranked),
        prompts=prompts_used(session.library, _prompt_names(methods, request.protocol, judges)),
    )
    sizes = {entry.sample.sample_id: entry.size for entry in data.entries}
    calls = [call for sample, models in ranked.items() for call in _calls(plan, sizes[sample], len(models))]
    acceptance = data.accepted(plan, total_estimate(calls, len(ranked), items=count_items(plan, ranked)))
    unranked = sum(place.sample_id not in ranked for place in data.places)
    return replace(acceptance, values=(rankings,), notes={"without_rankings": unranked})


def _tree(name: str, session: Session, ranked: Collection[str]) -> str:
    """Return the id of the named tree version, which has criteria on ranked samples.

    Raises:
        InputError: there is no such tree, or it has criteria of none of the samples.
    """
    version = named_tree(session.opened, name)
    if not any(criterion.sample_id in ranked for criterion in tree_criteria(session.opened, version.tree)):
        raise InputError(
            f"--tree {name}: none of its criteria is on a sample that people ranked: grow one from an evaluation of the same "
            "data"
        )
    return version.id


def resumable(session: Session, run: Run, plan: JudgingPlan, request: JudgingRequest) -> None:
    """Check that the response files have not changed since the run was accepted.

    Raises:
        DataError: a file has changed.
    """
    check_unchanged(request.responses, request.data, plan.responses, run.id)
    check_unchanged(auxiliary_of(plan, request), request.data, plan.auxiliary, run.id)


def auxiliary_of(plan: JudgingPlan, request: JudgingRequest) -> tuple[Path, ...]:
    """Return the file of auxiliary responses, if the comparison needs one."""
    if plan.auxiliary and request.auxiliary is not None:
        return (request.auxiliary,)
    return ()


def response_texts(paths: Sequence[Path], data: Path) -> ResponseTexts:
    """Return the response of each model to each sample of a data set; nothing without files.

    Raises:
        DataError: a file is unusable, or a model has several responses to a sample, of which people ranked only one.
    """
    texts: ResponseTexts = {}
    responses = read_answer_files(paths, data)
    if responses is None:
        return texts
    for response in responses.given.values():
        if response.repeat:
            raise DataError(
                f"{response.place}: {response.model} has several responses to sample {response.sample_id!r} (repeat "
                f"{response.repeat}); keep the one that people ranked"
            )
        texts.setdefault(response.sample_id, {})[response.model] = response.text
    return texts


def _rankings(request: JudgingRequest, data: StoredSamples, responses: ResponseTexts) -> HumanRankings:
    """Return people's rankings of the judged samples; rankings of samples outside the run are ignored."""
    samples = {place.sample_id: responses.get(place.sample_id, {}) for place in data.places}
    models = {model for texts in samples.values() for model in texts}

    def problems(ranking: GivenRanking) -> Iterator[str]:
        if not request.takes_part or ranking.sample_id in samples:
            yield from unknown_in(ranking, samples, models, responses=files_text(request.responses))

    rankings: list[HumanRanking] = []
    for ranking in read_rankings(request.rankings, unknown=problems):
        if ranking.sample_id in samples:
            rankings.append(
                HumanRanking(sample=ranking.sample_id, annotator=ranking.annotator, scores=dict(ranking.scores))
            )
    return HumanRankings(rankings=tuple(rankings))


def _auxiliary_hash(
    request: JudgingRequest, methods: tuple[str, ...], ranked: Mapping[str, tuple[str, ...]]
) -> str | None:
    """Return the hash of the auxiliary responses, after checking that they suffice and come from unjudged models."""
    if request.auxiliary is None or "scan" not in methods:
        return None
    texts = response_texts([request.auxiliary], request.data)
    judged_models = {model for models in ranked.values() for model in models}
    overlap = sorted(judged_models & {model for by_model in texts.values() for model in by_model})
    if overlap:
        raise ConfigError(
            f"--auxiliary: {', '.join(overlap)} {is_or_are(len(overlap))} judged, too; scan draws its criteria from "
            f"models that are never judged: take them out of {request.auxiliary}"
        )
    ids = [sample for sample in ranked if len(texts.get(sample, {})) < FEWEST_AUXILIARY]
    if ids:
        names = shortened(ids, MOST_NAMED)
        raise DataError(
            f"{request.auxiliary}: {len(ids)} of {len(ranked)} samples have fewer than {FEWEST_AUXILIARY} responses to compare "
            f"({names}); add some, or leave scan out of --methods"
        )
    return _hash([request.auxiliary], request.data)


def _hash(paths: Sequence[Path], data: Path) -> str:
    responses = read_answer_files(paths, data)
    if responses is None:
        return ""
    return responses.hash


def _prompt_names(methods: tuple[str, ...], protocol: str, judges: tuple[ModelSpec, ...]) -> set[str]:
    names = {"repair"}
    for method in methods:
        names |= {*PROMPTS.get(method, ())}
    own_protocol = protocol == "default"
    atomic = {"atom", "atom-no-weights"} & set(methods)
    if atomic:
        names |= {"solver", "equivalence"}
        names |= {"criteria", "criteria_check"} if own_protocol else {"criteria_published"}
    if atomic or "atom-no-chain" in methods:
        names.add("checkpoints" if own_protocol else "checkpoints_published")
    if any(map(takes_schema, judges)):
        names.add("structured")
    return names


def _calls(plan: JudgingPlan, size: SampleSize, responses: int) -> Iterator[ExpectedCalls]:
    """Yield the maximum number of judge calls for a sample."""
    text = INSTRUCTION_TOKENS + size.text
    judgements = responses * plan.repeats
    for judge in plan.judges:
        with_image = text + size.images_for(judge)
        if "chain" in plan.bases:
            yield ExpectedCalls(judge, 2 if size.reference else 1, with_image + size.reference, CHAIN_TOKENS)
            if size.reference:
                yield ExpectedCalls(judge, 2, text + 2 * size.reference, WORD_TOKENS)
        if "criteria" in plan.bases:
            yield ExpectedCalls(judge, 2, with_image + CHAIN_TOKENS, CRITERIA_TOKENS)
            if plan.protocol == "default":
                yield ExpectedCalls(judge, 2, text + CHAIN_TOKENS + CRITERIA_TOKENS, CHECK_TOKENS)
        if "chainless" in plan.bases:
            yield ExpectedCalls(judge, 2, with_image + size.reference, CRITERIA_TOKENS)
        if "compared" in plan.bases:
            yield ExpectedCalls(judge, 1, with_image + 3 * RESPONSE_TOKENS, CRITERIA_TOKENS)
        for method in plan.asking_methods:
            if method == "batch":
                yield ExpectedCalls(judge, plan.orders, with_image + responses * RESPONSE_TOKENS, WORD_TOKENS)
            elif method == "pointwise":
                yield ExpectedCalls(judge, judgements, with_image + RESPONSE_TOKENS, WORD_TOKENS)
            elif method == "scan":
                yield ExpectedCalls(judge, judgements, with_image + CRITERIA_TOKENS + RESPONSE_TOKENS, SCORES_TOKENS)
            else:
                basis = CHAIN_TOKENS if method == "atom-no-decomposition" else CRITERIA_TOKENS
                frame = with_image if plan.show_image else text
                yield ExpectedCalls(judge, judgements, frame + basis + RESPONSE_TOKENS, SCORES_TOKENS)


def previews(plan: JudgingPlan, sample: Sample, library: PromptLibrary) -> Sequence[Rendered]:
    """Return the prompts for every judge, in the order of the calls."""
    asks = (*_basis_asks(plan, sample), *_response_asks(plan, sample))
    return rendered_asks(asks, library)


def _basis_asks(plan: JudgingPlan, sample: Sample) -> Iterator[Ask[object]]:  # Replies have different types.
    """Yield the asks that make a basis for judgements."""
    published = plan.protocol == "published"
    count = counted(PUBLISHED_COUNT if published else COUNT)
    if "chain" in plan.bases:
        yield write_chain(sample)
        if sample.reference_text is not None:
            yield judge_equivalence(sample, PLACEHOLDER_CHAIN.answer)
    if "criteria" in plan.bases:
        yield from criteria_previews(sample, count=None if published else count)
    if "chainless" in plan.bases:
        yield extract_without_chain(sample, count=count)
    if "compared" in plan.bases:
        yield compare_responses(sample, (RESPONSE, OTHER_RESPONSE))


def _response_asks(plan: JudgingPlan, sample: Sample) -> Iterator[Ask[object]]:
    """Yield the asks that judge a response, or all responses to a sample."""
    published = plan.protocol == "published"
    for method in plan.asking_methods:
        if method == "pointwise":
            yield rate_response(sample, RESPONSE)
        elif method == "batch":
            yield rank_responses(sample, (RESPONSE, OTHER_RESPONSE))
        elif method == "scan":
            yield score_compared(sample, COMPARED, RESPONSE)
        elif method == "atom-no-decomposition":
            yield score_aspects(sample, PLACEHOLDER_CHAIN, RESPONSE, show_image=plan.show_image)
        else:
            yield score_criteria(
                sample, PLACEHOLDER_CRITERIA, RESPONSE, show_image=plan.show_image, published=published
            )
