"""Simulated judges on the tree: they propose under many names, recognise synonyms, map with planted noise, see words only."""

import aiohttp
import orjson
import pytest

from dokimasia.domain.call import Chat, Embedding, EmbeddingReply, ModelRef, ModelSpec
from dokimasia.domain.capability import CATEGORIES, Proposal
from dokimasia.errors import TransportError
from dokimasia.gateway.direct.transport import DirectTransport
from dokimasia.parsing.trees.merges import parse_merges
from dokimasia.parsing.trees.proposals import parse_mapping, parse_placements, parse_proposals
from dokimasia.prompts import render
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.tree import tree_reply
from dokimasia.simulation.lexicon import made_up_capabilities, parent_names, parent_of, scene_capabilities
from dokimasia.simulation.profiles import JudgeProfile
from dokimasia.simulation.requests import Inputs
from dokimasia.simulation.respond import respond
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.tree_world import planted_criteria
from dokimasia.storage.content.blobs import MemoryBlobs

JUDGE = JudgeProfile(name="sim/test")
EMPTY = "\n".join(f"<{name}>" for name in CATEGORIES)


def listed(criteria) -> str:
    """Criteria as a judge is shown them, numbered from 1."""
    rows = [
        {"n": n, "criterion": one.question, "ground_truth": one.ground_truth} for n, one in enumerate(criteria, start=1)
    ]
    return "\n".join(orjson.dumps(row).decode() for row in rows)


def capabilities(names: list[str], parent: str = "<Perception><Things>") -> str:
    """Leaves as a judge is shown them for merging."""
    rows = [{"n": n, "path": f"{parent}<{name}>", "support": n} for n, name in enumerate(names, start=1)]
    return "\n".join(orjson.dumps(row).decode() for row in rows)


def test_a_capability_goes_by_many_names() -> None:
    """Different requests propose a capability under all its names and its parent under both, and nothing else."""
    one = next(planted_criteria(1, 0))
    planted = made_up_capabilities()[one.capability]
    names: set[str] = set()
    parents: set[str] = set()
    for key in range(60):
        text = tree_reply(JUDGE, "tree_propose", Inputs(tree=EMPTY, criteria=listed([one])), Draws(str(key)))
        (place,) = parse_placements(text, 1, [])
        assert isinstance(place, Proposal)
        names.add(place.name)
        parents.add(place.under.name)
        assert [proposal.path.layer for proposal in parse_proposals(text)] == [2, 3]
    assert names == set(planted.names)
    assert parents == set(parent_names()[parent_of(one.capability)])


def test_what_is_in_the_tree_is_reused_under_any_name() -> None:
    """A leaf of the tree that stands for the capability is chosen, whatever it is called and wherever it hangs."""
    one = next(planted_criteria(1, 1))
    for name in made_up_capabilities()[one.capability].names:
        leaf = f"<Generation><Elsewhere><{name}>"
        text = tree_reply(
            JUDGE,
            "tree_propose",
            Inputs.model_validate({"tree": f"{EMPTY}\n{leaf}", "criteria": listed([one])}),
            Draws("k"),
        )
        assert parse_placements(text, 1, [leaf]) == (leaf,)


def test_one_reply_keeps_to_one_name() -> None:
    """Criteria of one capability in one list get one and the same proposal."""
    many = [one for one in planted_criteria(3_000, 2) if one.capability.startswith("<Knowledge>")][:60]
    text = tree_reply(JUDGE, "tree_propose", Inputs(tree=EMPTY, criteria=listed(many)), Draws("k"))
    places = parse_placements(text, len(many), [])
    chosen = {one.capability: place for one, place in zip(many, places, strict=True)}
    assert all(chosen[one.capability] == place for one, place in zip(many, places, strict=True))
    assert len(set(places)) == len(chosen)


def test_synonyms_are_grouped_and_vague_names_told() -> None:
    """Names of one capability form a group with the best supported first; others stay alone, empty words are vague."""
    names = ["Totals", "Hue Discrimination", "Summing Up", "Skill", "Addition", "Shuffling", "Cell Lookup"]
    text = tree_reply(JUDGE, "tree_merge", Inputs(capabilities=capabilities(names)), Draws("k"))
    assert text == "same: 5, 3, 1\nvague: 4"
    alone = tree_reply(JUDGE, "tree_merge", Inputs(capabilities=capabilities(["Totals", "Ratios"])), Draws("k"))
    assert alone == "none"


def test_a_vague_name_is_bettered_by_what_its_examples_probe() -> None:
    """Where all examples of a vague leaf probe one capability its better name is one of that capability's; else it has none."""
    planted = list(planted_criteria(400, 0))
    one = planted[0]
    other = next(each for each in planted if each.capability != one.capability)
    rows = [
        {"n": n, "path": "<Perception><Things><Skill>", "support": 2, "examples": [each.question for each in shown]}
        for n, shown in enumerate([(one,), (one, other)], start=1)
    ]
    text = tree_reply(
        JUDGE, "tree_merge", Inputs(capabilities="\n".join(orjson.dumps(row).decode() for row in rows)), Draws("k")
    )
    found = parse_merges(text, 2)
    assert found.vague == (1, 2)
    ((number, name),) = found.names
    assert number == 1
    assert name in made_up_capabilities()[one.capability].names


def test_parents_under_several_names_are_grouped_too() -> None:
    """Parents of one category that stand for one planted parent form a group; those of another do not."""
    paths = [
        "<Reasoning><Arithmetic>",
        "<Reasoning><Inference>",
        "<Reasoning><Numerical Reasoning>",
        "<Perception><Intent>",
    ]
    rows = [orjson.dumps({"n": n, "path": path, "support": 9}).decode() for n, path in enumerate(paths, start=1)]
    assert tree_reply(JUDGE, "tree_merge", Inputs(capabilities="\n".join(rows)), Draws("k")) == "same: 1, 3"


def test_synonyms_are_missed_at_the_planted_rate() -> None:
    """Of many names each is left out of its group as often as planted."""
    judge = JudgeProfile(name="sim/test", misses_synonym=0.2)
    names = [name for one in made_up_capabilities().values() for name in one.names]
    text = tree_reply(judge, "tree_merge", Inputs(capabilities=capabilities(names)), Draws("k"))
    grouped = sum(len(line.split(",")) for line in text.splitlines())
    assert 1 - grouped / len(names) == pytest.approx(0.2, abs=0.06)


def test_mapping_is_right_without_noise_and_wrong_at_the_planted_rate() -> None:
    """Without noise every criterion gets its leaf; with it the planted share gets another leaf of the list."""
    leaves = sorted(made_up_capabilities())
    noisy = JudgeProfile(name="sim/test", misplaces=0.1)
    wrong: list[str | None] = []
    for seed in range(4):
        criteria = list(planted_criteria(500, seed))
        inputs = Inputs(paths="\n".join(leaves), criteria=listed(criteria))
        true = tuple(one.capability for one in criteria)
        assert parse_mapping(tree_reply(JUDGE, "tree_map", inputs, Draws(f"{seed}")), 500, leaves) == true
        mapped = parse_mapping(tree_reply(noisy, "tree_map", inputs, Draws(f"{seed}")), 500, leaves)
        wrong += [place for place, planted in zip(mapped, true, strict=True) if place != planted]
    assert len(wrong) / 2_000 == pytest.approx(0.1, abs=0.02)
    assert len(set(wrong)) > 60


def test_what_fits_nowhere_is_not_placed() -> None:
    """Where the capability is missing from the list the answer is none; branches are chosen by category and parent."""
    one = next(planted_criteria(1, 0))
    missing = [path for path in made_up_capabilities() if path != one.capability]
    text = tree_reply(JUDGE, "tree_map", Inputs(paths="\n".join(missing), criteria=listed([one])), Draws("k"))
    assert text == "1 | none"
    branches = sorted({parent_of(path) for path in made_up_capabilities()})
    text = tree_reply(JUDGE, "tree_map", Inputs(paths="\n".join(branches), criteria=listed([one])), Draws("k"))
    assert text == f"1 | {parent_of(one.capability)}"
    text = tree_reply(JUDGE, "tree_map", Inputs(paths=EMPTY, criteria=listed([one])), Draws("k"))
    assert text == f"1 | {one.capability[: one.capability.index('>') + 1]}"


@pytest.mark.parametrize("prompt", ["tree_propose", "tree_merge", "tree_map"])
def test_every_simulated_judge_knows_the_prompts(prompt: str) -> None:
    """The rendered prompts are recognised and answered in the form that they ask for, by any judge that ships."""
    criteria = list(planted_criteria(4, 0))
    given = {
        "tree_propose": {"tree": EMPTY, "criteria": listed(criteria)},
        "tree_merge": {"capabilities": capabilities(["Totals", "Addition"])},
        "tree_map": {"paths": "\n".join(made_up_capabilities()), "criteria": listed(criteria)},
    }[prompt]
    call = Chat(model=ModelRef(name="j", model="sim/judge"), messages=render(prompt, given).messages)
    assert (
        respond(call, {}).text == tree_reply(JUDGE, prompt, Inputs.model_validate(given), Draws("k"))
        or prompt == "tree_propose"
    )
    assert "simulated judge" not in respond(call, {}).text


async def test_embeddings_know_what_texts_mean() -> None:
    """Names of one capability lie close together and those of two far apart; wire and process give equal vectors."""
    totals = [*scene_capabilities()["<Reasoning><Numerical Reasoning><Addition>"].names, "Hue Discrimination", "Ratios"]
    with running_server() as url:
        spec = ModelSpec(ref=ModelRef(name="e", model="sim/embedding", endpoint=url), api_base=url)
        call = Embedding(model=spec.ref, texts=tuple(totals))
        direct = DirectTransport()
        try:
            there = await direct.send(call, spec, api_key=None, blobs=MemoryBlobs())
        finally:
            await direct.aclose()
        async with aiohttp.ClientSession() as session:
            body = {"model": "sim/embedding", "input": "Totals", "encoding_format": "base64"}
            async with session.post(f"{url}/embeddings", json=body) as refused:
                assert refused.status == 400
    here = await SimTransport().send(call, spec, api_key=None, blobs=MemoryBlobs())
    assert isinstance(here, EmbeddingReply)
    assert isinstance(there, EmbeddingReply)
    assert here.vectors == there.vectors
    first = here.vectors[0]
    alike = [sum(a * b for a, b in zip(first, other, strict=True)) for other in here.vectors]
    assert min(alike[:4]) > 0.6
    assert max(alike[4:]) < 0.5
    unknown = Embedding(model=ModelRef(name="x", model="sim/nobody"), texts=("a",))
    with pytest.raises(TransportError, match="sim/embedding"):
        await SimTransport().send(unknown, spec, api_key=None, blobs=MemoryBlobs())
