"""The agents of the tree: what they are shown, a first reply read strictly and a second leniently."""

import json

import pytest

from dokimasia.agents import ask
from dokimasia.agents.asking import embed
from dokimasia.agents.tree import (
    MergeRow,
    capability_lines,
    criteria_lines,
    judge_merges,
    map_criteria,
    propose_capabilities,
    read_proposed,
)
from dokimasia.domain.call import Chat, ModelRef, ModelSpec
from dokimasia.domain.growth import TreeCriterion
from dokimasia.domain.judgement import Failed
from dokimasia.errors import UnparsableReply
from dokimasia.gateway.doubles import FunctionGateway, ScriptedGateway
from dokimasia.prompts import recognise

JUDGE = ModelSpec(ref=ModelRef(name="J", model="sim/judge"))
NODES = ["<Perception>", "<Perception><Enumeration>", "<Perception><Enumeration><Counting>", "<Reasoning>"]
CRITERIA = [TreeCriterion("a:1", "How many?", "s1", ground_truth="three"), TreeCriterion("b:1", "Which sum?", "s2")]
GOOD = (
    "<ADD,<Reasoning>,Arithmetic>\n1 | <Perception><Enumeration><Counting>\n2 | <ADD,<Reasoning><Arithmetic>,Addition>"
)


async def test_a_proposer_sees_tree_and_criteria() -> None:
    """The request is recognised with the nodes and the criteria; its reply gives leaf, proposal and parent."""
    gateway = ScriptedGateway([GOOD])
    asked = await ask(propose_capabilities(CRITERIA, NODES), gateway=gateway, model=JUDGE)
    assert asked.value is not None
    assert [str(place) for place in asked.value.places] == [NODES[2], "<ADD,<Reasoning><Arithmetic>,Addition>"]
    assert [str(parent) for parent in asked.value.parents] == ["<ADD,<Reasoning>,Arithmetic>"]
    call = gateway.calls[0]
    assert isinstance(call, Chat)
    request = recognise(call.messages)
    assert request is not None
    assert (request.name, request.inputs["tree"].splitlines()) == ("tree_propose", NODES)
    assert json.loads(request.inputs["criteria"])[0] == {"n": 1, "criterion": "How many?", "ground_truth": "three"}
    assert asked.provenance.shown == ("tree", "criteria")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("2 | <ADD,<Magic><Spells>,Flying>", "none of the fixed categories"),
        ("2 | <ADD,<Reasoning><Nowhere>,Adding>", "there is no parent"),
        ("2 | <ADD,<Perception><Enumeration>,Perception>", "the name of one above it"),
        ("2 | <ADD,<Perception><Enumeration><Counting><Deep>,Deeper>", "layers below the root"),
        ("2 | do as I say and remove the tree", "there is no line for criterion 2"),
        ("2 | <ADD,<Perception><Enumeration>,New Capability>", "only stands for a name in the form"),
    ],
)
def test_wrong_proposals_are_named_then_left_out(line: str, reason: str) -> None:
    """The first time a wrong line sends the reply back; the second time it is a problem and the rest is taken."""
    text = f"1 | {NODES[2]}\n{line}"
    with pytest.raises(UnparsableReply, match=reason):
        read_proposed(text, 2, NODES, strict=True)
    read = read_proposed(text, 2, NODES, strict=False)
    assert read.places == (NODES[2], None)
    assert any(reason in problem for problem in read.problems)


async def test_a_mapper_tells_none_from_a_lost_line() -> None:
    """What the judge says fits nowhere is told from what has no usable line."""
    gateway = ScriptedGateway(["1 | none\n2 | <Made><Up><Leaf>"] * 2)
    asked = await ask(map_criteria(CRITERIA, NODES[2:3]), gateway=gateway, model=JUDGE)
    assert asked.sent_back is not None
    assert asked.value is not None
    assert (asked.value.paths, asked.value.none) == ((None, None), frozenset({1}))
    assert asked.value.problems[0].startswith("criterion 2:")


def test_all_faults_of_a_reply_are_named_at_once() -> None:
    """Lines, parents and missing criteria that are wrong in one reply stand in one reason."""
    text = f"<ADD,<Magic>,Spells>\n1 | {NODES[2]}\n2 | <Made><Up><Leaf>\n3 | <ADD,<Reasoning><Nowhere>,Adding>"
    with pytest.raises(UnparsableReply) as caught:
        read_proposed(text, 4, NODES, strict=True)
    for part in ("criterion 2", "<Magic>", "<Nowhere>", "no line for criterion 4"):
        assert part in caught.value.reason


def test_the_whole_question_is_shown_once() -> None:
    """A long question stands uncut at the first of its sample's criteria, and not again at those that follow."""
    question = "Which of these holds? " + "A long condition. " * 200 + "Answer with its letter."
    criteria = [
        one._replace(question=asked) for one, asked in zip(CRITERIA * 2, [question, question, "", "B?"], strict=True)
    ]
    rows = json.loads(criteria_lines(criteria))
    assert [row.get("question") for row in rows] == [question, None, "", "B?"]


async def test_a_merger_and_embeddings() -> None:
    """Groups come back by number; an endpoint that answers an embedding with a chat is a failure and no vector."""
    gateway = FunctionGateway(lambda call: "same: 2, 1")
    rows = [MergeRow(NODES[2], 3, ["How many?"]), MergeRow("<Perception><Enumeration>", 4, (), ["Counting"])]
    assert json.loads(capability_lines(rows)) == [
        {"n": 1, "path": NODES[2], "support": 3, "examples": ["How many?"]},
        {"n": 2, "path": "<Perception><Enumeration>", "support": 4, "below": ["Counting"]},
    ]
    asked = await ask(judge_merges(rows), gateway=gateway, model=JUDGE)
    assert asked.value is not None
    assert asked.value.merges.same == ((2, 1),)
    failed = await embed(["a"], gateway=gateway, model=JUDGE)
    assert isinstance(failed, Failed)
