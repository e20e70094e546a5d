"""A planted world with rankings: responses whose final answers say little about their reasoning, ranked by people.

Each step of a response is right with its model's skill; its final answer follows from the last step, or is right by luck.
People rank the responses to a sample by the weight of the right steps, with individual errors. Auxiliary responses come
from other models. Everything is derived from the seed.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import orjson
from pydantic import BaseModel

from dokimasia.domain.identity import digest
from dokimasia.simulation.candidates import StepOutcome, final_answer, word_answer
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.profiles import CandidateProfile
from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.world import make_world

SKILLS = {"north": 0.9, "east": 0.75, "south": 0.6, "west": 0.45, "centre": 0.3}
"""The judged models, with their probability of a right step."""

AUXILIARY = {"first-aid": 0.8, "second-aid": 0.55, "third-aid": 0.3}
"""Models that are never judged, with their skill."""

ANNOTATORS = ("a1", "a2", "a3")

LUCK = 0.7
"""Probability that a final answer is independent of the steps; it is then right half of the time."""

SLIP = 0.15
"""Probability that a person rates a response two points too high; the same for too low."""

GAP = 0.08
"""Share of rankings in which one response is missing."""


class PlantedResponse(NamedTuple):
    """A response: model, text, weight of its right steps (0 to 10), and whether its final answer is right."""

    model: str
    text: str
    merit: int
    right: bool


class PlantedRanking(BaseModel):
    """A person's ranking of the responses to a question: scores by model, or groups of models, the best first."""

    id: str
    annotator: str
    scores: dict[str, int] | None = None
    ranking: list[list[str]] | None = None

    @property
    def places(self) -> dict[str, float]:
        """A number for each model, higher for a better one."""
        if self.scores is not None:
            return {model: float(score) for model, score in self.scores.items()}
        return {model: -float(rank) for rank, group in enumerate(self.ranking or ()) for model in group}


def planted_responses(question: SceneQuestion, skills: dict[str, float], seed: int) -> list[PlantedResponse]:
    """Return each model's response to a question."""
    responses: list[PlantedResponse] = []
    for model, skill in skills.items():
        draws = Draws(digest("ranked", [seed, question.id, model]))
        outcomes: list[StepOutcome] = [
            "right" if draws.chance(skill, "step", number) else "wrong" for number in range(len(question.steps))
        ]
        final = final_answer(question, outcomes, draws)
        if draws.chance(LUCK, "luck"):
            final = question.answer if draws.chance(0.5, "lucky") else _wrong(question, draws)
        profile = CandidateProfile(name="sim/ranked", base=skill)
        text = word_answer(profile, question, outcomes, draws, final=final).text
        merit = sum(step.weight for step, outcome in zip(question.steps, outcomes, strict=True) if outcome == "right")
        responses.append(PlantedResponse(model, text, merit, final == question.answer))
    return responses


def planted_rankings(question: SceneQuestion, responses: list[PlantedResponse], seed: int) -> Iterator[PlantedRanking]:
    """Yield each person's ranking of the responses to a question."""
    for annotator in ANNOTATORS:
        draws = Draws(digest("rankings", [seed, question.id, annotator]))
        scores = {response.model: response.merit + _slip(draws, response.model) for response in responses}
        if draws.chance(GAP, "gap"):
            scores.pop(draws.pick(list(scores), "missing"))
        if annotator == ANNOTATORS[-1]:
            yield PlantedRanking(id=question.id, annotator=annotator, scores=scores)
            continue
        groups = [
            [model for model, rank_score in scores.items() if rank_score == score]
            for score in sorted(set(scores.values()))
        ]
        yield PlantedRanking(id=question.id, annotator=annotator, ranking=groups[::-1])


def write_ranked(path: Path, n_samples: int, seed: int) -> dict[str, Path]:
    """Write responses, auxiliary responses and rankings of a world next to its data file; return the files by content.

    Equal arguments give equal bytes; the data file itself is written by `write_world` with the same arguments.
    """
    responses: list[dict[str, str]] = []
    auxiliary: list[dict[str, str]] = []
    rankings: list[dict[str, object]] = []
    for _, question in make_world(n_samples, seed):
        ranked = planted_responses(question, SKILLS, seed)
        responses += _response_lines(question, ranked)
        auxiliary += _response_lines(question, planted_responses(question, AUXILIARY, seed))
        rankings += [line.model_dump(exclude_none=True) for line in planted_rankings(question, ranked, seed)]
    files: dict[str, Path] = {}
    for name, lines in (("responses", responses), ("auxiliary", auxiliary), ("rankings", rankings)):
        files[name] = path.with_name(f"{path.stem}.{name}.jsonl")
        files[name].write_bytes(b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))
    return files


def _response_lines(question: SceneQuestion, responses: list[PlantedResponse]) -> list[dict[str, str]]:
    return [{"id": question.id, "model": response.model, "response": response.text} for response in responses]


def _slip(draws: Draws, model: str) -> int:
    fate = draws.unit("slip", model)
    if fate < SLIP:
        return 2
    return -2 if fate < 2 * SLIP else 0


def _wrong(question: SceneQuestion, draws: Draws) -> str:
    among = [choice for choice in question.choices if choice != question.answer] or list(question.wrong_answers)
    return draws.pick(among, "unlucky")
