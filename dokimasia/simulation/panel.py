"""Simulated panel members: descriptions of pictures, comparisons, rewrites and votes, with planted faults."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple
from xml.sax.saxutils import escape

from dokimasia.domain.call import ChatReply
from dokimasia.domain.identity import unit_interval
from dokimasia.simulation.candidates import REFUSED, deliver_reply
from dokimasia.simulation.draws import Draws, text_reply
from dokimasia.simulation.picture_content import FactKey, PictureContent, PictureFact, read_statements, same_value
from dokimasia.simulation.profiles import (
    CandidateProfile,
    JudgeProfile,
    PanelProfile,
    Profile,
    Slip,
    as_judge,
    as_member,
)
from dokimasia.simulation.requests import Inputs, read_json

HARDER, EASIER = 2.5, 0.5
"""Factors on the rate of wrong facts, for hard facts and for others."""

MOST_WRONG = 0.95
LURE_SHARE = 0.8
"""Share of wrongly stated hard facts that take their lure; the remainder is uniform over the false values."""

_FIRST = (
    "Going over the picture",
    "Taking the whole picture",
    "Looking closely",
    "At a first look and a second",
    "As the picture has it",
    "For whoever cannot see it",
    "With care",
    "In plain words",
)
_SECOND = (
    "from the left to the right",
    "from the top down",
    "part by part",
    "from the middle outwards",
    "from the large to the small",
    "corner by corner",
    "one thing after the other",
)
_PACE = ("slowly", "in order", "without haste", "as plainly as I can", "as it comes", "thing for thing")
_THIRD = (
    "this is what it shows.",
    "these things are there.",
    "here is what can be made out.",
    "it holds the following.",
    "so much can be seen.",
    "the following is in it.",
    "I can tell this of it.",
)


def describe_picture(profile: Profile, picture: PictureContent, draws: Draws) -> ChatReply:
    """Return the model's description of a picture, one sentence per fact, with its planted faults."""
    member = as_member(profile, picture.domain)
    sentences = [
        point.sentence(value)
        for number, point in enumerate(picture.points)
        if (value := told_value(member, point, number, draws)) is not None
    ]
    text = in_manner(profile.name, sentences)
    if isinstance(profile, CandidateProfile):
        return deliver_reply(profile, draws, text, in_manner(profile.name, sentences[: len(sentences) // 2]) + " The")
    return text_reply(text)


def describe_pictures(profile: Profile, pictures: Sequence[PictureContent], draws: Draws) -> ChatReply:
    """Return the model's description of several pictures: their number, then each on a separate line.

    A refusal of one, or a text truncated there, is the reply.
    """
    lines = [f"There {'is 1 image' if len(pictures) == 1 else f'are {len(pictures)} images'}."]
    last = text_reply("")
    for number, picture in enumerate(pictures, 1):
        last = describe_picture(profile, picture, Draws(f"{draws.key}/{number}"))
        if last.refusal is not None:
            return last
        lines += [f"Image {number}:", last.text]
        if last.finish_reason != "stop":
            break
    return last.model_copy(update={"text": "\n".join(lines)})


def told_value(member: PanelProfile, point: PictureFact, number: int, draws: Draws) -> str | None:
    """Return the value that a draft states for a fact; None if it omits the fact. A disputed fact is always stated."""
    if point.readings:
        return reading_of_member(member, point)
    if not draws.chance(member.telling, "telling", number):
        return None
    if not draws.chance(wrong_rate(member, point), "wrong", number):
        return point.value
    if point.hard and draws.chance(LURE_SHARE, "lure", number):
        return point.false[0]
    return draws.pick(point.false, "false", number)


def wrong_rate(member: PanelProfile, point: PictureFact) -> float:
    """Return the probability that a stated fact is wrong."""
    return min(MOST_WRONG, member.false_facts * (HARDER if point.hard else EASIER))


def reading_of_member(member: PanelProfile, point: PictureFact) -> str:
    """Return the reading of a disputed fact that a member always writes."""
    return point.readings[stance_of(member) % len(point.readings)]


def stance_of(member: PanelProfile) -> int:
    """Return the number of a member's reading."""
    if member.stance is not None:
        return member.stance
    return int(unit_interval("stance", member.name) * 6)


def manner_of(name: str) -> str:
    """Return a model's opening words, by which it recognises its own descriptions."""
    words = (
        among[int(unit_interval("manner", name, position) * len(among))]
        for position, among in enumerate((_FIRST, _SECOND, _PACE, _THIRD))
    )
    return ", ".join(words)


def in_manner(name: str, sentences: list[str]) -> str:
    """Return a description with these sentences, in a model's manner."""
    return " ".join([manner_of(name), *sentences])


PANEL_PROMPTS = ("peer_review", "peer_review_published", "peer_vote", "peer_vote_published", "density", "domain")
"""The prompts that this module answers."""

SPARSE_SHARE = 0.15
"""Share of pictures with a planted low density."""

TALK = (
    "Candidate {best} is already the best description.",
    "This rewrite takes what is right in each of the candidates.",
    "I went by candidate {best} and put right what was wrong there.",
    "Here is a better description of the image:",
)
"""Openings of rewrites by a member that talks about candidates."""

CHATTER = "Each of these has something to be said for it, and I would rather talk about the picture as a whole."


class CandidateReading(NamedTuple):
    """A candidate as a member reads it: text, value of each fact, and numbers of true and false statements."""

    text: str
    values: Mapping[FactKey, str]
    true: int
    false: int

    @property
    def charm(self) -> float:
        """The readability of the text: a random number, independent of the picture and the same for all members."""
        return unit_interval("charm", sha256(self.text.encode()).hexdigest())


def panel_reply(
    profile: Profile, prompt: str, inputs: Inputs, picture: PictureContent | None, draws: Draws
) -> ChatReply:
    """Return the reply of a panel member, or of the judge of a filter, to one of `PANEL_PROMPTS`."""
    member = as_member(profile, picture.domain if picture else "natural")
    slip = draw_slip(member, draws)
    if slip == "refuses":
        return REFUSED
    if picture is None or (slip is not None and slip not in ("out_of_range", "one_short")):
        text = CHATTER
    elif prompt == "density":
        text = _density_ratings(as_judge(profile), picture, draws, slip)
    elif prompt == "domain":
        text = f"It is {picture.domain} work by what stands in it.\n<domain>{picture.domain}</domain>"
        text = text.replace(picture.domain, "other") if slip else text
    else:
        candidates = read_candidates(inputs.candidates, picture)
        if prompt.endswith("_published"):
            member = member.model_copy(update={"keeps": 0.0, "ties": False})
        text = _comparison(member, candidates, picture, draws, slip, voting=prompt.startswith("peer_vote"))
    return text_reply(text)


def draw_slip(profile: PanelProfile | JudgeProfile, draws: Draws) -> Slip | None:
    """Draw whether the reply is unusable, and how."""
    fate = draws.unit("slip")
    for slip, rate in sorted(profile.slips.items()):
        if fate < rate:
            return slip
        fate -= rate
    return None


def judge_slip(judge: JudgeProfile, draws: Draws) -> Slip | None:
    """Draw whether a judge's reply is unusable, and how; it also refuses at the rate `refusal`."""
    if draws.chance(judge.refusal, "refusal"):
        return "refuses"
    return draw_slip(judge, draws)


def density_of(picture: PictureContent) -> tuple[int, int]:
    """Return the planted density of a picture: visual complexity and informativeness, 1 to 10."""
    if unit_interval("sparse", picture.id) < SPARSE_SHARE:
        return 1 + int(3 * unit_interval("sparse-complexity", picture.id)), 2
    more = int(4 * unit_interval("complexity", picture.id))
    return min(10, 3 + len(picture.points) // 5 + more), min(10, 2 + len(picture.points) // 3)


def read_candidates(text: str, picture: PictureContent) -> list[CandidateReading]:
    """Return the candidates of a prompt, in order; none if the list cannot be read."""
    rows = read_json(text)
    texts = [row.get("text") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [read_candidate(candidate, picture) for candidate in texts if isinstance(candidate, str)]


def read_candidate(text: str, picture: PictureContent) -> CandidateReading:
    """Return a viewer's reading of a text: its true and its false statements."""
    facts = picture.by_key
    values = {statement.key: statement.value for statement in read_statements(text) if statement.key in facts}
    right = [same_value(value, facts[key].value) for key, value in values.items() if not facts[key].readings]
    return CandidateReading(text, values, sum(right), len(right) - sum(right))


def vote(member: PanelProfile, candidates: Sequence[CandidateReading], picture: PictureContent, draws: Draws) -> int:
    """Return the index of the candidate that a member votes for."""
    own = manner_of(member.name)
    mine = next((number for number, candidate in enumerate(candidates) if candidate.text.startswith(own)), None)
    if mine is not None and draws.chance(member.self_preference, "own"):
        return mine
    if draws.chance(member.position_bias, "first"):
        return 0
    wanted = _own_reading(member, candidates, picture)
    if wanted is not None:
        return wanted
    return _rank(candidates, looks=draws.chance(member.detects_false, "looks"))[0]


def rewrite(member: PanelProfile, candidates: Sequence[CandidateReading], picture: PictureContent, draws: Draws) -> str:
    """Return a description corrected by what the member checks in the picture.

    It starts from the text ranked first, removes or corrects statements that it checks and finds false, and adds
    statements of other texts that it checks and finds true. A member that checks nothing returns the most readable
    text.
    """
    base = candidates[_rank(candidates, looks=_goes_by_picture(member, draws))[0]]
    sentences: list[str] = []
    for number, point in enumerate(picture.points):
        if point.readings:
            sentences.append(point.sentence(reading_of_member(member, point)))
            continue
        looked = draws.chance(member.detects_false, "looks-at", number)
        values = [candidate.values[point.key] for candidate in candidates if point.key in candidate.values]
        if not looked:
            if point.key in base.values:
                sentences.append(point.sentence(base.values[point.key]))
            continue
        struck = draws.chance(member.false_alarm, "false-alarm", number)
        if not struck and any(same_value(value, point.value) for value in values):
            sentences.append(point.sentence())
    return in_manner(member.name, sentences)


def _comparison(
    member: PanelProfile,
    candidates: Sequence[CandidateReading],
    picture: PictureContent,
    draws: Draws,
    slip: Slip | None,
    *,
    voting: bool,
) -> str:
    if not candidates:
        return CHATTER
    critiques = [
        f"<candidate_{number}_critique>{escape(_critique(candidate, picture))}</candidate_{number}_critique>"
        for number, candidate in enumerate(candidates, 1)
    ]
    if slip == "one_short":
        critiques.pop()
    analysis = "<analysis>\n" + "\n".join(critiques) + "\n</analysis>"
    if voting:
        best = len(candidates) + 4 if slip == "out_of_range" else vote(member, candidates, picture, draws) + 1
        equal = [] if slip else equally_good(member, candidates, best - 1)
        also = f"<equally_good>{', '.join(map(str, equal)) or 'none'}</equally_good>\n" if member.ties else ""
        why = "It says more that is true, and less that is not."
        return (
            f"<voting_result>\n{analysis}\n<best_candidate_id>{best}</best_candidate_id>\n"
            f"{also}<rationale>{why}</rationale>\n</voting_result>"
        )
    ranking = [number + 1 for number in _rank(candidates, looks=_goes_by_picture(member, draws))]
    if slip == "one_short":
        ranking.pop()
    if slip == "out_of_range":
        ranking[0] = len(candidates) + 4
    if draws.chance(member.keeps, "keeps"):
        proposal = f"<keep>{ranking[0]}</keep>"
    else:
        text = rewrite(member, candidates, picture, draws)
        if draws.chance(member.talks, "talks"):
            text = f"{draws.pick(TALK, 'talk').format(best=ranking[0])} {text}"
        proposal = f"<rewrite>\n{text}\n</rewrite>"
    order = ", ".join(map(str, ranking))
    return f"<review_result>\n{analysis}\n<ranking>{order}</ranking>\n{proposal}\n</review_result>"


def equally_good(member: PanelProfile, candidates: Sequence[CandidateReading], best: int) -> list[int]:
    """Return the numbers, from 1, of other candidates that are equally true and complete, if the member names ties."""
    if not member.ties:
        return []
    best_merit = merit(candidates[best])[:2]
    return [at + 1 for at, other in enumerate(candidates) if at != best and merit(other)[:2] == best_merit]


def _critique(candidate: CandidateReading, picture: PictureContent) -> str:
    missing = len(picture.points) - len(candidate.values)
    return f"It tells {len(candidate.values)} of the things that are there and leaves {missing} out."


def _own_reading(member: PanelProfile, candidates: Sequence[CandidateReading], picture: PictureContent) -> int | None:
    """Return the candidate with the member's preferred reading of a disputed fact at the vote; None without one.

    At the vote, a member shifts from its own reading by a number that depends on the picture. So members with different
    readings vote differently, and no vote favours a member's own text.
    """
    for point in picture.disputed:
        values = [candidate.values.get(point.key, "").casefold() for candidate in candidates]
        present = [reading for reading in point.readings if reading.casefold() in values]
        own = reading_of_member(member, point)
        if own not in present:
            continue
        turn = int(unit_interval("turn", picture.id) * len(present))
        wanted = present[(present.index(own) + turn) % len(present)].casefold()
        return min((at for at, value in enumerate(values) if value == wanted), key=lambda at: merit(candidates[at]))
    return None


def merit(candidate: CandidateReading) -> tuple[int, int, float]:
    """Return the sort key of a candidate: fewest false statements, then most true ones, then charm."""
    return candidate.false, -candidate.true, -candidate.charm


def _goes_by_picture(member: PanelProfile, draws: Draws) -> bool:
    """Draw whether the member ranks and rewrites by the picture, or by the texts' readability."""
    return draws.chance(member.detects_false, "compares")


def _rank(candidates: Sequence[CandidateReading], *, looks: bool) -> list[int]:
    """Return the indices of all candidates, best first: by the picture if `looks`, else by readability."""
    return sorted(range(len(candidates)), key=lambda at: merit(candidates[at]) if looks else -candidates[at].charm)


def _density_ratings(judge: JudgeProfile, picture: PictureContent, draws: Draws, slip: Slip | None) -> str:
    ratings: list[str] = []
    for name, planted in zip(("visual_complexity", "informativeness"), density_of(picture), strict=True):
        rating = planted
        if draws.chance(judge.jitter, "density", name):
            rating += 1 if planted < 10 else -1
        if slip == "out_of_range":
            rating = 11
        why = f"There are {len(picture.points)} things to tell."
        ratings.append(f"<{name}>\n<reasoning>{why}</reasoning>\n<score>{rating}</score>\n</{name}>")
    if slip == "one_short":
        ratings.pop()
    return "<image_evaluation>\n" + "\n".join(ratings) + "\n</image_evaluation>"
