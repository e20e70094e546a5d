"""Expected results of reviews and audits: facts counted in texts, and expectations from planted parameters.

Nothing here asks, draws or reads a reply. The counts search for the exact sentences of a scene's facts; the expectations
follow from the definitions of the profiles by the rules of probability, for usable replies.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import NamedTuple

from dokimasia.domain.identity import unit_interval
from dokimasia.simulation.judging.rubrics import sensitivity_of
from dokimasia.simulation.panel import LURE_SHARE, merit, read_candidate, reading_of_member, wrong_rate
from dokimasia.simulation.picture_content import PictureContent, PictureFact, content_of_scene, folded
from dokimasia.simulation.profiles import CandidateProfile, JudgeProfile, PanelProfile, Profile, as_member
from dokimasia.simulation.scene import Scene


class FactCounts(NamedTuple):
    """Number of a scene's facts that a text states correctly, incorrectly, as one reading of a disputed fact, or not at all."""

    true: int
    false: int
    disputed: int
    untold: int


class ExpectedAudit(NamedTuple):
    """Expected figures of an audit of a model, shares of 0 to 1; `overall` is the mean gated score."""

    overall: float
    gate_pass: float
    must_right_item: float
    easy_wrong_item: float
    easy_wrong_mean: float


def count_facts(text: str, scene: Scene) -> FactCounts:
    """Return how many facts of a scene a text states correctly and incorrectly; of repeated statements, the first counts."""
    true = false = open_ = untold = 0
    plain = folded(text)
    for point in content_of_scene(scene).points:
        value = _value_in_text(plain, point.attribute, point.subject)
        if value is None:
            untold += 1
        elif point.readings:
            open_ += 1
        elif value == folded(point.value):
            true += 1
        else:
            false += 1
    return FactCounts(true, false, open_, untold)


def expected_facts(profile: Profile, scene: Scene) -> tuple[float, float]:
    """Return the expected numbers of facts that a model's description of a scene states correctly, and incorrectly."""
    member = as_member(profile, scene.domain)
    settled = content_of_scene(scene).settled
    false = sum(member.telling * wrong_rate(member, point) for point in settled)
    return member.telling * len(settled) - false, false


def vote_chances(voter: PanelProfile, texts: Mapping[str, str], scene: Scene) -> dict[str, float]:
    """Return the probability of a vote for each author's text, over all orders of display.

    Args:
        voter: the voting member.
        texts: the candidates by author's name; the voter's own is the one under its name.
        scene: the described scene.
    """
    chosen = _deliberate(voter, texts, content_of_scene(scene))
    own_rate = voter.self_preference if voter.name in texts else 0.0
    first_rate = voter.position_bias / len(texts)
    return {
        author: own_rate * (author == voter.name)
        + (1 - own_rate) * (first_rate + (1 - voter.position_bias) * chosen[author])
        for author in texts
    }


def expected_self_preference(
    voter: str, panel: Sequence[PanelProfile], rounds: Iterable[tuple[Mapping[str, str], Scene]]
) -> float:
    """Return a voter's expected self-preference over rounds: its rate of voting for its own text minus that of the others.

    Rounds without a text of its own (it kept another member's) are ignored.

    Args:
        voter: the name of the member.
        panel: all members.
        rounds: the candidate texts by author, each with its scene.

    Raises:
        ValueError: there is no round.
    """
    differences: list[float] = []
    for texts, scene in rounds:
        if voter not in texts:
            continue
        chances = {member.name: vote_chances(member, texts, scene)[voter] for member in panel}
        other_chances = [chance for name, chance in chances.items() if name != voter]
        differences.append(chances[voter] - sum(other_chances) / len(other_chances))
    if not differences:
        raise ValueError("a self-preference needs at least one round of votes")
    return sum(differences) / len(differences)


def expected_losses(profile: Profile, scene: Scene) -> dict[str, float]:
    """Return the probabilities that a member's turns to compare and to vote fail.

    A refusal is final; any other unusable reply is requested once more, and drawn anew.
    """
    member = as_member(profile, scene.domain)
    refuses = member.slips.get("refuses", 0.0)
    useless = sum(member.slips.values()) - refuses
    talks = (1 - refuses - useless) * (1 - member.keeps) * member.talks
    return {part: refuses + bad * (refuses + bad) for part, bad in (("compare", useless + talks), ("vote", useless))}


def true_results(text: str, rubrics: Sequence[str]) -> list[bool]:
    """Return whether a text meets each rubric, by the sentences of facts in it.

    Raises:
        ValueError: a rubric is not about one fact, in the wording of simulated judges.
    """
    plain = folded(text)
    results: list[bool] = []
    for rubric in rubrics:
        attribute, subject, value, forbidden = read_rubric(rubric)
        results.append((_value_in_text(plain, attribute, subject) == value) != forbidden)
    return results


def true_gated_score(text: str, must_right: Sequence[str], easy_wrong: Sequence[str]) -> float:
    """Return the gated score of a text by the planted truth, 0 to 1."""
    if not all(true_results(text, must_right)):
        return 0.0
    finer = true_results(text, easy_wrong)
    if finer:
        return sum(finer) / len(finer)
    return 1.0


def read_rubric(statement: str) -> tuple[str, str, str, bool]:
    """Return the content of a rubric (attribute, subject and value, in lower case), and whether it forbids the statement.

    Raises:
        ValueError: it is not in the wording of simulated judges.
    """
    plain = folded(statement).rstrip(".")
    for opening, forbidden in (
        ("the response must not say that the ", True),
        ("the response must say that the ", False),
    ):
        about, separator, value = plain.removeprefix(opening).partition(' is "')
        attribute, between, subject = about.partition(" of the ")
        if plain.startswith(opening) and separator and between and value.endswith('"'):
            return attribute, subject, value[:-1], forbidden
    raise ValueError(f"not a rubric of the planted world: {statement!r}")


def expected_audit(
    profile: Profile,
    judge: JudgeProfile,
    sets: Iterable[tuple[Scene, Sequence[str], Sequence[str]]],
) -> ExpectedAudit:
    """Return the expected figures of an audit of a model's descriptions under a judge.

    Args:
        profile: the model that describes; its replies are not truncated.
        judge: the judge, with its planted sensitivity and false alarms.
        sets: scenes with the statements of their must-right and easy-wrong rubrics.

    Raises:
        ValueError: there is no scene, a rubric is not of the planted world, or the model truncates its replies.
    """
    if isinstance(profile, CandidateProfile) and profile.truncated:
        raise ValueError(f"{profile.name} cuts some replies short: what those tell has no closed form")
    silent = profile.refusal + profile.malformed if isinstance(profile, CandidateProfile) else 0.0
    overall: list[float] = []
    gates: list[float] = []
    shares: list[float] = []
    items: tuple[list[float], list[float]] = ([], [])
    for scene, must_right, easy_wrong in sets:
        chances = _Chances(as_member(profile, scene.domain), judge, content_of_scene(scene), silent)
        gates.append(chances.all_pass(must_right))
        finer = [chances.all_pass([rubric]) for rubric in easy_wrong]
        items[0].extend(chances.all_pass([rubric]) for rubric in must_right)
        items[1].extend(finer)
        if easy_wrong:
            shares.append(_mean(finer))
            overall.append(_mean([chances.all_pass([*must_right, rubric]) for rubric in easy_wrong]))
        else:
            overall.append(gates[-1])
    return ExpectedAudit(_mean(overall), _mean(gates), _mean(items[0]), _mean(items[1]), _mean(shares))


class _Chances:
    """Probabilities that a model's description passes rubrics under a judge; facts are independent of one another."""

    def __init__(self, member: PanelProfile, judge: JudgeProfile, picture: PictureContent, silent: float) -> None:
        self._member, self._judge, self._silent = member, judge, silent
        self._points = {(point.attribute.casefold(), point.subject.casefold()): point for point in picture.points}

    def all_pass(self, rubrics: Sequence[str]) -> float:
        """Return the probability that the judge finds all of these rubrics met."""
        by_fact: dict[tuple[str, str], list[str]] = {}
        for rubric in rubrics:
            attribute, subject, _, _ = read_rubric(rubric)
            by_fact.setdefault((attribute, subject), []).append(rubric)
        spoken = prod(
            sum(chance * self._judged(about, value) for value, chance in self._outcomes(key).items())
            for key, about in by_fact.items()
        )
        return (1 - self._silent) * spoken + self._silent * self._judged(rubrics, None)

    def _outcomes(self, key: tuple[str, str]) -> dict[str | None, float]:
        """Return the values that the description can give a fact (None: it leaves it out), with their probabilities."""
        point = self._points.get(key)
        if point is None:
            return {None: 1.0}
        if point.readings:
            return {reading_of_member(self._member, point).casefold(): 1.0}
        member = self._member
        wrong = member.telling * wrong_rate(member, point)
        outcomes: dict[str | None, float] = {None: 1 - member.telling, point.value.casefold(): member.telling - wrong}
        for value, chance in _mistakes(point).items():
            outcomes[value] = outcomes.get(value, 0.0) + wrong * chance
        return outcomes

    def _judged(self, rubrics: Sequence[str], value: str | None) -> float:
        """Return the probability that the judge passes these rubrics, given the stated value of their fact."""
        chance = 1.0
        for rubric in rubrics:
            _, _, expected, forbidden = read_rubric(rubric)
            met = (value == expected) != forbidden
            chance *= 1 - self._judge.false_alarm if met else 1 - sensitivity_of(self._judge, rubric)
        return chance


def _mistakes(point: PictureFact) -> dict[str, float]:
    share = (1 - LURE_SHARE if point.hard else 1.0) / len(point.false)
    chances: dict[str, float] = {}
    for value in point.false:
        chances[value.casefold()] = chances.get(value.casefold(), 0.0) + share
    if point.hard:
        chances[point.false[0].casefold()] += LURE_SHARE
    return chances


def _deliberate(voter: PanelProfile, texts: Mapping[str, str], picture: PictureContent) -> dict[str, float]:
    """Return the probability that each text is chosen by a voter without regard to author or place."""
    readings = {author: read_candidate(text, picture) for author, text in texts.items()}
    for point in picture.disputed:
        values = {author: reading.values.get(point.key, "").casefold() for author, reading in readings.items()}
        present = [reading.casefold() for reading in point.readings if reading.casefold() in values.values()]
        own_reading = reading_of_member(voter, point).casefold()
        if own_reading in present:
            position = present.index(own_reading) + int(unit_interval("turn", picture.id) * len(present))
            holders = [author for author in texts if values[author] == present[position % len(present)]]
            chosen = min(holders, key=lambda author: merit(readings[author]))
            return {author: float(author == chosen) for author in texts}
    best = min(readings, key=lambda author: merit(readings[author]))
    charming = max(readings, key=lambda author: readings[author].charm)
    looks = voter.detects_false
    return {author: looks * (author == best) + (1 - looks) * (author == charming) for author in texts}


def _value_in_text(plain: str, attribute: str, subject: str) -> str | None:
    """Return the value that a text in lower case gives a fact; None if it does not state it."""
    opening = f'the {attribute} of the {subject} is "'.casefold()
    at = plain.find(opening)
    if at < 0:
        return None
    value, closed, _ = plain[at + len(opening) :].partition('"')
    return value if closed else None


def _mean(values: Sequence[float]) -> float:
    if not values:
        raise ValueError("an expectation needs at least one scene with rubrics")
    return sum(values) / len(values)
