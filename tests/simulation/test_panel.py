"""Simulated panel members: what they detect, whom they vote for, and replies of no use."""

import hashlib

import orjson
import pytest

from dokimasia.agents.density import parse_density
from dokimasia.domain.sample import ImageRef
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.votes import parse_ballot, parse_peer_review, parse_vote
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.panel import (
    SPARSE_SHARE,
    density_of,
    describe_picture,
    in_manner,
    manner_of,
    read_candidate,
    reading_of_member,
    rewrite,
    vote,
)
from dokimasia.simulation.picture import draw_scene
from dokimasia.simulation.picture_content import content_of_scene
from dokimasia.simulation.profiles import PanelProfile, profiles
from dokimasia.simulation.respond import respond
from dokimasia.simulation.scene import DOMAINS
from dokimasia.simulation.scenes import make_scene
from dokimasia.simulation.truths.reviewing import count_facts, expected_self_preference, vote_chances
from dokimasia.simulation.world import make_described

SCENES = [make_scene(domain, 400 + seed) for domain in DOMAINS for seed in range(12)]
PANEL = tuple(profiles()[f"sim/panel-{letter}"] for letter in "abc")


def _drafts(scene, panel=PANEL) -> dict[str, str]:
    return {
        one.name: describe_picture(one, content_of_scene(scene), Draws(f"{one.name} {scene.id}")).text for one in panel
    }


def _reads(texts, scene):
    return [read_candidate(text, content_of_scene(scene)) for text in texts]


@pytest.mark.parametrize("rate", [0.0, 0.5, 1.0])
def test_a_rewrite_loses_false_facts_at_the_planted_rate(rate) -> None:
    """False facts of the best draft stay as often as nobody looked; who looks at nothing hands a draft on as it is."""
    member = PanelProfile(name="sim/x", detects_false=rate)
    stay = before = 0
    for scene in SCENES:
        texts = list(_drafts(scene).values())
        candidates = _reads(texts, scene)
        text = rewrite(member, candidates, content_of_scene(scene), Draws(scene.id))
        facts = count_facts(text, scene)
        if rate == 0:
            charming = max(candidates, key=lambda one: one.charm)
            assert facts == count_facts(charming.text, scene)
        if rate == 1:
            told = {
                key
                for one in candidates
                for key, value in one.values.items()
                if value == content_of_scene(scene).by_key[key].value
            }
            assert (facts.true, facts.false) == (len(told), 0)
        stay, before = stay + facts.false, before + min(one.false for one in candidates)
        assert text.startswith(manner_of("sim/x"))
    if rate == 0.5:
        assert 0.2 < stay / before < 1.1


def test_false_alarms_strike_true_statements() -> None:
    """A member with false alarms leaves out true statements at about that rate, and nothing else changes."""
    kept = [0, 0]
    for scene in SCENES:
        candidates = _reads(_drafts(scene).values(), scene)
        for at, rate in enumerate((0.0, 0.2)):
            member = PanelProfile(name="sim/x", false_alarm=rate)
            kept[at] += count_facts(rewrite(member, candidates, content_of_scene(scene), Draws(scene.id)), scene).true
    assert kept[1] / kept[0] == pytest.approx(0.8, abs=0.04)


def test_votes_come_at_the_planted_chances() -> None:
    """Over many draws each candidate gets the votes that follow from vanity, place and attention."""
    voter = PANEL[0].model_copy(update={"self_preference": 0.3, "position_bias": 0.1, "detects_false": 0.7})
    scene = SCENES[3]
    texts = _drafts(scene)
    expected = vote_chances(voter, texts, scene)
    assert sum(expected.values()) == pytest.approx(1)
    names = list(texts)
    counted = dict.fromkeys(names, 0)
    for number in range(3000):
        order = names[number % 3 :] + names[: number % 3]
        candidates = _reads([texts[name] for name in order], scene)
        counted[order[vote(voter, candidates, content_of_scene(scene), Draws(str(number)))]] += 1
    for name in names:
        assert counted[name] / 3000 == pytest.approx(expected[name], abs=0.03)


def test_expected_self_preference_without_vanity_is_nothing() -> None:
    """Members who are not vain and look alike have no expected self-preference; a vain one has."""
    alike = [
        one.model_copy(update={"self_preference": 0.0, "position_bias": 0.1, "detects_false": 0.9}) for one in PANEL
    ]
    rounds = [(_drafts(scene), scene) for scene in SCENES]
    for member in alike:
        assert expected_self_preference(member.name, alike, rounds) == pytest.approx(0)
    vain = [alike[0].model_copy(update={"self_preference": 0.4}), *alike[1:]]
    assert 0.2 < expected_self_preference(vain[0].name, vain, rounds) < 0.4
    assert expected_self_preference(vain[1].name, vain, rounds) > 0, (
        "the vanity of others takes votes from everybody else"
    )
    with pytest.raises(ValueError, match="at least one round"):
        expected_self_preference(vain[0].name, vain, [])


def test_a_disputed_fact_divides_the_vote_for_nobodys_sake() -> None:
    """Without vanity three members never agree on a disputed scene, and vote for their own text in a third of all cases."""
    modest = [one.model_copy(update={"self_preference": 0.0, "position_bias": 0.0}) for one in PANEL]
    own = total = 0
    for scene in make_described(120, 7, disputed=1.0):
        candidates = _reads(_drafts(scene, modest).values(), scene)
        votes = [
            vote(member, candidates, content_of_scene(scene), Draws(f"{member.name}{scene.id}")) for member in modest
        ]
        assert len(set(votes)) == 3
        own += sum(vote == at for at, vote in enumerate(votes))
        total += 3
        for member, one in zip(modest, candidates, strict=True):
            (point,) = content_of_scene(scene).disputed
            assert one.values[point.key] == reading_of_member(member, point)
    assert own / total == pytest.approx(1 / 3, abs=0.13)


@pytest.fixture
def put(ask):
    """Puts a prompt on candidates to a member with a slip, and returns the reply's text."""

    def make(prompt: str, slip: str | None, repeat: int = 0, **changes: object) -> str:
        scene = SCENES[0]
        png = draw_scene(scene)
        sha = hashlib.sha256(png).hexdigest()
        texts = list(_drafts(scene).values())
        rows = [{"candidate": number, "text": text} for number, text in enumerate(texts, 1)]
        inputs = {"candidates": orjson.dumps(rows).decode()} if prompt.startswith("peer") else {}
        slips = {slip: 1.0} if slip else {}
        member = PanelProfile.model_validate({"name": "sim/x", "slips": slips, **changes})
        image = ImageRef(sha256=sha, media_type="image/png", width=640, height=480)
        return respond(
            ask("sim/x", prompt, inputs, images=(image,), repeat=repeat), {sha: png}, models={"sim/x": member}
        ).text

    return make


def test_members_answer_in_the_form_that_was_asked_for(put) -> None:
    """Comparison, vote, density and domain read back by the parsers."""
    comparison = parse_peer_review(put("peer_review", None), 3)
    assert sorted(comparison.ranking) == [1, 2, 3]
    assert count_facts(comparison.rewrite, SCENES[0]).false == 0
    assert 1 <= parse_ballot(put("peer_vote", None), 3).best <= 3
    density = parse_density(put("density", None))
    assert (density.visual_complexity, density.informativeness) == density_of(content_of_scene(SCENES[0]))
    assert f"<domain>{SCENES[0].domain}</domain>" in put("domain", None)


@pytest.mark.parametrize("slip", ["refuses", "unparsable", "out_of_range", "one_short"])
@pytest.mark.parametrize("prompt", ["peer_review", "peer_vote", "density"])
def test_slips_are_of_no_use(put, slip, prompt) -> None:
    """A refusal, chatter, candidate 7 of 3 or one result too few is read by no parser."""
    parse = {
        "peer_review": lambda text: parse_peer_review(text, 3),
        "peer_vote": lambda text: parse_ballot(text, 3),
        "density": parse_density,
    }[prompt]
    text = put(prompt, slip)
    with pytest.raises(UnparsableReply):
        parse(text)


@pytest.mark.parametrize("rate", [0.0, 0.4, 1.0])
def test_keepers_and_talkers(put, rate) -> None:
    """A member keeps what it ranks first, or talks about candidates in its rewrite, at the planted rates."""
    kept = talked = refused = 0
    for repeat in range(60):
        said = parse_peer_review(put("peer_review", None, repeat=repeat, keeps=rate), 3)
        kept += said.keep is not None
        assert said.keep in (None, said.ranking[0])
        text = put("peer_review", None, repeat=repeat, talks=rate)
        opening = text.partition("<rewrite>")[2].strip()
        talked += not opening.startswith(manner_of("sim/x"))
        try:
            parse_peer_review(text, 3)
        except UnparsableReply:
            refused += 1
    assert kept / 60 == pytest.approx(rate, abs=0.2 if 0 < rate < 1 else 0)
    assert talked / 60 == pytest.approx(rate, abs=0.2 if 0 < rate < 1 else 0)
    assert refused == talked, "whatever a talker begins with, no other reply is refused, and no talk is taken"


def test_a_vote_for_seven_of_three(put) -> None:
    """The vote that is out of range is for candidate 7."""
    text = put("peer_vote", "out_of_range")
    assert "<best_candidate_id>7</best_candidate_id>" in text
    with pytest.raises(UnparsableReply):
        parse_vote(text, 3)


def test_some_pictures_are_sparse() -> None:
    """About the planted share of scenes is rated low, and every rating lies on the scale."""
    ratings = [density_of(content_of_scene(make_scene(domain, seed))) for domain in DOMAINS for seed in range(60)]
    assert all(1 <= rating <= 10 for pair in ratings for rating in pair)
    assert sum(low <= 3 for low, _ in ratings) / len(ratings) == pytest.approx(SPARSE_SHARE, abs=0.04)


def test_slips_beyond_a_probability_are_refused() -> None:
    """Rates of slips that make no probabilities make no profile."""
    with pytest.raises(ValueError, match="at most 1"):
        PanelProfile(name="sim/x", slips={"refuses": 0.6, "unparsable": 0.6})


def test_manner_is_no_fact() -> None:
    """The words with which a model begins tell nothing of the picture."""
    for scene in SCENES:
        assert read_candidate(in_manner("sim/panel-a", []), content_of_scene(scene)).values == {}
