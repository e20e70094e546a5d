"""Every graph as a runnable: values in and out, steps streamed, inside other graphs and pipes, contexts that open themselves."""

import asyncio
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from pydantic import TypeAdapter

from dokimasia import MemoryBlobs, MemoryStore, as_runnable, memory_context
from dokimasia.agents.candidate import answer_question
from dokimasia.datasets import read_jsonl
from dokimasia.domain.blindspots import Perturbed
from dokimasia.domain.failure_modes import AnswerAtoms
from dokimasia.domain.identity import value_id
from dokimasia.domain.judgement import Response
from dokimasia.domain.review import GoldenCaption, ReviewRecord
from dokimasia.domain.rubric import RubricSource
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, DataError, InputError, LoopRunning
from dokimasia.graphs.runnable import own_graph
from dokimasia.graphs.signatures import SIGNATURES
from dokimasia.graphs.versions import VERSIONS
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_creative, write_described, write_gold, write_world

JUDGE = "sim/judge"
PANEL = ("sim/panel-a", "sim/panel-b", "sim/panel-c")


class World:
    """Samples of the planted world with their images, and a runnable for each graph over them."""

    def __init__(self, folder: Path) -> None:
        self.blobs = MemoryBlobs()
        self.folder = folder

    def samples(self, write: Any, count: int = 2) -> list[Sample]:
        """Return planted samples."""
        path = self.folder / f"{write.__name__}.jsonl"
        write(path, count, 0)
        return list(read_jsonl(path, blobs=self.blobs, need_prompt=False))

    async def run(self, graph: str, input: dict[str, Any], **how: Any) -> dict[str, Any]:
        """Return what a graph gives, checked to be of the type that it names."""
        how = {"judge": JUDGE, "blobs": self.blobs, **how}
        given = await as_runnable(graph, **how).ainvoke(input)
        assert not given.get("failed"), (graph, given)
        assert not any(item.get("failed") for item in given.get("items", ())), (graph, given)
        TypeAdapter(SIGNATURES[graph].gives).validate_python(given)
        return given


@pytest.fixture
def world(tmp_path: Path) -> World:
    """The planted world."""
    return World(tmp_path)


def test_each_graph_has_a_signature_and_a_schema() -> None:
    """All graphs of the package are runnables with a typed input and output, which LangChain shows as JSON schemas."""
    assert SIGNATURES.keys() == VERSIONS.keys()
    for name, signature in SIGNATURES.items():
        assert name == own_graph(name).NAME
        options = {field: ("sim/weak", "sim/strong") for field in signature.names if field in ("panel", "pool")}
        runnable = as_runnable(name, judge=JUDGE, options=options)
        assert runnable.get_input_jsonschema()["$defs" if "$ref" in runnable.get_input_jsonschema() else "properties"]
        assert runnable.get_output_jsonschema()
        assert runnable.get_graph().nodes.keys() > {"__start__", "__end__"}


async def test_an_answer_is_scored_and_refined(world: World) -> None:
    """From a sample to its criteria, an answer's scores, its correction and what is rated of it, values all the way."""
    sample, _ = world.samples(write_world)
    replayed = await world.run("cognitive_replay", {"sample": sample})
    criteria = replayed["criteria"]
    items = [{"model": "sim/weak"}, {"model": "sim/strong"}]
    scored = await world.run(
        "checkpoint_scoring",
        {"sample": sample, "criteria": criteria, "items": items},
        models=("sim/weak", "sim/strong"),
    )
    weak, strong = scored["items"]
    assert weak["judgement"].score <= strong["judgement"].score
    refined = await world.run(
        "refinement",
        {"sample": sample, "response": weak["response"], "criteria": criteria, "model": "sim/weak", "rounds": 2},
        models=("sim/weak",),
    )
    assert refined["before"]
    assert refined["steps"]
    assert await world.run("criterion_quality", {"sample": sample, "criteria": criteria, "number": 1})
    answers = [item["response"] for item in scored["items"]]
    assert (await world.run("batch_ranking", {"sample": sample, "responses": answers}))["result"].ranks
    compared = (await world.run("criteria_making", {"sample": sample, "auxiliary": answers}))["result"]
    judged = [{"model": "sim/weak", "response": answers[0]}]
    for how, basis in (("pointwise", {}), ("scan", {"basis": compared}), ("aspects", {"basis": replayed["chain"]})):
        await world.run("response_judging", {"sample": sample, "items": judged, "how": how, **basis})
    decided = await world.run("deciding", {"sample": sample, "items": judged})
    assert decided["items"][0]["judgement"].verdict in ("right", "wrong")


async def test_failures_are_sorted_into_modes(world: World) -> None:
    """Modes are made from answers whose parts stand in the input, and an answer is coded by them."""
    answers: list[AnswerAtoms] = []
    values: list[Any] = []
    for sample in world.samples(write_world, 6):
        criteria = (await world.run("cognitive_replay", {"sample": sample}))["criteria"]
        items = [{"model": "sim/weak"}]
        scored = await world.run(
            "checkpoint_scoring", {"sample": sample, "criteria": criteria, "items": items}, models=("sim/weak",)
        )
        [item] = scored["items"]
        scores = item["judgement"].scores
        failed = tuple(number for number, score in enumerate(scores, 1) if score < 4)
        parts: Any = {
            "sample": value_id(sample),
            "criteria": value_id(criteria),
            "response": value_id(item["response"]),
        }
        named: Any = {
            "sample_id": sample.id,
            "sample_digest": sample.digest,
            "cluster": sample.cluster,
            "model": "sim/weak",
        }
        answers.append(AnswerAtoms(**parts, **named, repeat=0, failed=failed))
        values += [sample, criteria, item["response"]]
    answers = [answer for answer in answers if answer.failed]
    modes, book = (await world.run("mode_making", {"answers": answers, "values": values}))["result"]
    assert book.notes
    coded = await world.run(
        "mode_coding",
        {"answer": answers[0], "modes": modes, "numbers": list(answers[0].failed), "coder": JUDGE, "values": values},
    )
    assert len(coded["codings"]) + len(coded["unread"]) == len(answers[0].failed)


async def test_images_are_described_and_audited(world: World) -> None:
    """From an image to a golden caption, rubrics, and a description that is held against them."""
    sample, _ = world.samples(write_described)
    rated = await world.run("density_filter", {"sample": sample})
    reviewed = await world.run("peer_review", {"sample": sample}, judge="", options={"panel": PANEL})
    record, golden, *_ = reviewed["result"]
    assert isinstance(record, ReviewRecord)
    assert isinstance(golden, GoldenCaption)
    source = RubricSource(
        sample_id=sample.id,
        sample=sample.digest,
        images=tuple(image.sha256 for image in sample.images),
        caption=golden.text,
        domain=rated["domain"],
    )
    gold = await world.run("gold_rubrics", {"sample": sample, "source": source})
    assert gold["made"].rubrics
    pool = ("sim/hasty", "sim/nearsighted")
    made = await world.run("rubric_making", {"sample": sample, "source": source}, options={"pool": pool})
    audited = await world.run(
        "rubric_audit",
        {"sample": sample.asked("Describe the image."), "rubrics": made["made"], "items": [{"model": "sim/strong"}]},
        models=("sim/strong",),
    )
    assert 0 <= audited["items"][0]["score"] <= 1


async def test_right_answers_are_perturbed_and_probed(world: World) -> None:
    """Gold answers are written, made worse and judged; images are edited."""
    [sample] = world.samples(write_gold, 1)
    options = {"writer": JUDGE, "checker": "sim/judge-noisy", "editor": "sim/editor"}
    gold = (await world.run("gold_writing", {"sample": sample}, options=options))["result"]
    text = {"sample": sample, "gold": gold, "dimension": "attribute_distortion"}
    perturbed = await world.run("text_perturbing", text, options=options)
    item = perturbed["result"][0]
    if isinstance(item, Perturbed):
        calls = [{"item": item, "evaluator": "single-vanilla", "first": "perturbed"}]
        probed = await world.run("probing", {"sample": sample, "judge": JUDGE, "calls": calls})
        assert probed["calls"][0]["judgement"]


async def test_a_tree_grows_in_memory(world: World) -> None:
    """Pairs of a criterion and a sample's name become a tree with the place of each."""
    pairs = [
        (criterion.question, sample.id)
        for sample in world.samples(write_world, 4)
        for criterion in (await world.run("cognitive_replay", {"sample": sample}))["criteria"].criteria
    ]
    grown = await world.run("taxonomy_growth", {"criteria": pairs})
    assert len(grown["placements"]) == len(set(pairs))
    assert any(placement.leaf for placement in grown["placements"])
    assert len(grown["version"].nodes) > 1


async def test_creative_answers_duel(world: World) -> None:
    """A duel asks both sides and gives their answers, the judgements and the score."""
    case, _ = world.samples(write_creative)
    options = {"baseline": "sim/weak"}
    items = [{"model": "sim/strong"}]
    [duel] = (await world.run("duel", {"sample": case, "items": items}, models=("sim/strong",), options=options))[
        "items"
    ]
    assert isinstance(duel["baseline"], Response)
    assert [judgement.place for judgement in duel["judgements"]][:2] == ["first", "second"]


class Outer(TypedDict, total=False):
    """The state of somebody else's graph."""

    sample: Any
    topic: str
    result: list[Any]
    verdict: str


class Own(TypedDict):
    """The context of somebody else's graph."""

    own: int


class Waiting(TypedDict, total=False):
    """The state of somebody else's graph that waits for a person."""

    item: str
    verdict: str


def review(world: World, **how: Any) -> Any:
    """Return a peer review as a runnable."""
    return as_runnable("peer_review", options={"panel": PANEL}, blobs=world.blobs, **how)


async def test_a_graph_is_a_node_of_another(world: World) -> None:
    """As a node it takes its own fields of the state and gives them back; steps show, checkpoints and context stay outside."""
    builder = StateGraph(Outer, context_schema=Own)
    builder.add_node("review", review(world))
    builder.add_edge(START, "review")
    builder.add_edge("review", END)
    outer = builder.compile(checkpointer=InMemorySaver())
    samples = world.samples(write_described)
    config: Any = {"configurable": {"thread_id": "one"}}
    state = await outer.ainvoke({"sample": samples[0], "topic": "any"}, config, context=Own(own=1))
    assert (state["topic"], state["verdict"]) == ("any", "accepted")
    assert isinstance(state["result"][1], GoldenCaption)
    steps: list[str] = []
    config = {"configurable": {"thread_id": "two"}}
    async for place, update in outer.astream({"sample": samples[1]}, config, stream_mode="updates", subgraphs=True):
        steps += [f"{bool(place)} {node}" for node in update]
    assert steps[0] == "True describe"
    assert steps[-2:] == ["True conclude", "False review"]


async def test_a_graph_is_part_of_a_pipe(world: World) -> None:
    """In a pipe a graph gives its final state, also where the pipe is streamed."""
    sample, _ = world.samples(write_described)
    pipe = RunnableLambda(lambda sample: {"sample": sample}) | review(world) | (lambda state: state["result"][1].text)
    text = await pipe.ainvoke(sample)
    assert text
    assert "".join([part async for part in pipe.astream(sample)]) == text
    started = [event["name"] async for event in pipe.astream_events(sample) if event["event"] == "on_chain_start"]
    assert {"peer_review", "describe", "compare", "conclude"} <= set(started)


async def test_each_step_is_streamed(world: World) -> None:
    """`astream` yields every step with the values that it made; who stops listening stops the work."""
    sample, _ = world.samples(write_described)
    steps = [step async for step in review(world).astream({"sample": sample})]
    assert [next(iter(step)) for step in steps][0::4] == ["describe", "conclude"]
    assert isinstance(steps[-1]["conclude"]["result"][0], ReviewRecord)
    stream = review(world).astream({"sample": sample})
    assert await anext(stream)
    await stream.aclose()
    assert len(asyncio.all_tasks()) == 1
    with pytest.raises(InputError):
        await anext(review(world).astream({"sample": 3}))


async def test_another_way_of_streaming_is_refused(world: World) -> None:
    """Steps are `updates`; another mode, and an argument that the runnable does not have, are errors and not ignored."""
    sample, _ = world.samples(write_described)
    assert await anext(review(world).astream({"sample": sample}, stream_mode="updates"))
    for how in ({"stream_mode": "values"}, {"stream_mode": ["updates", "values"]}, {"subgraphs": True}):
        with pytest.raises(InputError, match=f"takes no {next(iter(how))}=.*which is stream_mode='updates'"):
            await anext(review(world).astream({"sample": sample}, **how))
    with pytest.raises(InputError, match="takes no stream_mode='values'"):
        await review(world).ainvoke({"sample": sample}, stream_mode="values")
    with pytest.raises(InputError, match="takes no stream_mode='debug'"):
        await asyncio.to_thread(lambda: list(review(world).stream({"sample": sample}, stream_mode="debug")))


async def test_the_output_has_the_fields_that_it_declares(world: World) -> None:
    """What the graph keeps for itself, such as the seats of a panel, is no part of its output, nor is its input."""
    sample, _ = world.samples(write_described)
    state = await review(world).ainvoke({"sample": sample})
    assert state.keys() == {"verdict", "chosen", "result", "calls"}


def counted_gateways(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows with each context that is opened."""
    opened: list[int] = []
    import dokimasia.runs.embedding as embedding

    kept = embedding.ModelGateway

    def counted(**how: Any) -> Any:
        opened.append(1)
        return kept(**how)

    monkeypatch.setattr(embedding, "ModelGateway", counted)
    return opened


async def test_concurrent_calls_share_a_context(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls at one time open one context, with one ledger and the limits of its endpoints; later ones open another."""
    opened = counted_gateways(monkeypatch)
    runnable = review(world)
    inputs = [{"sample": sample} for sample in world.samples(write_described)]
    await runnable.abatch(inputs)
    assert len(opened) == 1
    await runnable.ainvoke(inputs[0])
    assert len(opened) == 2


async def test_a_context_of_the_caller_is_used_and_kept(world: World) -> None:
    """With a context of its own a program gives and gets ids or values, and names options for this graph alone."""
    sample, _ = world.samples(write_described)
    async with memory_context(judge=JUDGE, models=PANEL, blobs=world.blobs) as context:
        runnable = as_runnable("peer_review", context, options={"panel": PANEL})
        state = await runnable.ainvoke({"sample": await context.store.put(sample)})
        assert (await context.store.get(GoldenCaption, state["result"][1])).text
        valued = await as_runnable("peer_review", context, options={"panel": PANEL}, values=True).ainvoke(
            {"sample": sample}
        )
        assert value_id(valued["result"][1]) == state["result"][1]
        assert await context.ask(answer_question(sample), model=PANEL[0]), "the context is still open"
        with pytest.raises(ConfigError, match="asks sim/weak, not among the context's models"):
            as_runnable("peer_review", context, options={"panel": (*PANEL, "sim/weak")})
        with pytest.raises(ConfigError, match="a context, or what one is opened with"):
            as_runnable("peer_review", context, judge=JUDGE)
        with pytest.raises(LoopRunning, match="belongs to an event loop"):
            runnable.invoke({"sample": sample})


def test_without_an_event_loop_a_graph_is_invoked(world: World) -> None:
    """A graph of synchronous code invokes and streams; a home keeps what was paid for."""
    sample, _ = world.samples(write_described)
    runnable = review(world, home=world.folder / "home")
    assert runnable.invoke({"sample": sample})["verdict"] == "accepted"
    assert len(list(runnable.stream({"sample": sample}))) == 5
    builder = StateGraph(Outer)
    builder.add_node("review", runnable)
    builder.add_edge(START, "review")
    assert builder.compile().invoke({"sample": sample})["verdict"] == "accepted"


def test_without_an_event_loop_a_batch_shares_a_context(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of synchronous code opens its home once; without one its calls share a ledger, also one after another."""
    opened = counted_gateways(monkeypatch)
    inputs = [{"sample": sample} for sample in world.samples(write_described)]
    runnable = review(world, home=world.folder / "home")
    assert [state["verdict"] for state in runnable.batch(inputs)] == ["accepted", "accepted"]
    ended = dict(runnable.batch_as_completed([*inputs, {"topic": "any"}], return_exceptions=True))
    assert (ended[0]["verdict"], ended[1]["verdict"], type(ended[2])) == ("accepted", "accepted", InputError)
    assert len(opened) == 2
    review(world).batch(inputs, {"max_concurrency": 1})
    assert len(opened) == 3
    assert (runnable.batch([]), list(runnable.batch_as_completed([])), len(opened)) == ([], [], 3)


def test_without_an_event_loop_a_pipe_streams_the_final_state(world: World) -> None:
    """In a pipe that is streamed by synchronous code a graph passes its final state on, and no steps."""
    sample, _ = world.samples(write_described)
    pipe = RunnableLambda(lambda sample: {"sample": sample}) | review(world) | (lambda state: state["result"][1].text)
    assert "".join(pipe.stream(sample)) == pipe.invoke(sample) != ""


async def test_transports_of_the_caller_stay_open(world: World) -> None:
    """Each call opens a context, and closes no transport that the caller brought."""
    closed: list[int] = []

    class Counted(SimTransport):
        """A transport that counts how often it is closed."""

        async def aclose(self) -> None:
            """Count."""
            closed.append(1)

    sample, _ = world.samples(write_described)
    runnable = review(world, transports={"sim": Counted()})
    for _ in range(2):
        assert (await runnable.ainvoke({"sample": sample}))["verdict"] == "accepted"
    assert not closed


async def test_what_cannot_be_used_is_named(world: World) -> None:
    """An unknown graph, option, field or model, and a call inside an event loop, are errors that say the way out."""
    with pytest.raises(
        ConfigError, match=r"no graph 'per_review'; did you mean 'peer_review'.* There are: batch_ranking, "
    ):
        as_runnable("per_review")
    with pytest.raises(ConfigError, match=r"no graph 'nonsense'\. There are: batch_ranking, "):
        as_runnable("nonsense")
    with pytest.raises(ConfigError, match="options of the graph 'peer_review': panel: Field required"):
        as_runnable("peer_review")
    with pytest.raises(ConfigError, match="the graph 'deciding' needs a judge: judge="):
        as_runnable("deciding")
    with pytest.raises(InputError, match="cannot take this input: sample: Field required"):
        await review(world).ainvoke({"topic": "any"})
    with pytest.raises(InputError, match=r"the graph 'peer_review' takes a mapping of its fields.* and not str"):
        await review(world).ainvoke("text")
    with pytest.raises(InputError, match=r"takes a mapping of its fields.* and not str"):
        await (RunnableLambda(str) | review(world)).ainvoke("text")
    with pytest.raises(LoopRunning, match="was called inside a running event loop"):
        review(world).invoke({"sample": "x"})
    [sample] = world.samples(write_world, 1)
    scoring = as_runnable("checkpoint_scoring", judge=JUDGE, blobs=world.blobs)
    items = [{"model": "sim/weak"}]
    with pytest.raises(ConfigError, match="not among the context's models: sim/weak; there are: sim/judge"):
        await scoring.ainvoke({"sample": sample, "items": items})


async def test_verification_interrupts_the_graph_around_it() -> None:
    """The graph that waits for a person interrupts the graph that it is part of, which goes on with the decision."""
    builder = StateGraph(Waiting)
    builder.add_node("verify", as_runnable("verification"))
    builder.add_edge(START, "verify")
    outer = builder.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "one"}}
    waiting = await outer.ainvoke({"item": "i1"}, config)
    assert waiting["__interrupt__"][0].value == {"item": "i1"}
    done = await outer.ainvoke(Command(resume={"decision": "d1", "action": "accept"}), config)
    assert done["verdict"] == "accepted"


JUDGELESS = {"peer_review", "verification", "mode_coding", "probing", "gold_writing", "gold_imaging"}
"""Graphs whose input and options name every model that they ask."""


async def test_no_contestant_is_the_judge(world: World) -> None:
    """A graph that asks a judge is refused without one, whatever other models are named."""
    case, _ = world.samples(write_creative)
    options = {"panel": PANEL, "pool": PANEL, "writer": "sim/weak", "checker": "sim/strong"}
    for name, signature in SIGNATURES.items():
        how: Any = {"models": ("sim/strong", "sim/weak")}
        how["options"] = {field: value for field, value in options.items() if field in signature.names}
        if name in JUDGELESS or name == "checkpoint_scoring":
            assert as_runnable(name, **how)
        else:
            with pytest.raises(ConfigError, match=f"the graph '{name}' needs a judge: judge=..."):
                as_runnable(name, **how)
    with pytest.raises(ConfigError, match="the graph 'gold_writing' needs a judge"):
        as_runnable("gold_writing", options={"writer": "sim/weak"})
    async with memory_context(models=("sim/strong", "sim/weak"), blobs=world.blobs) as context:
        with pytest.raises(ConfigError, match="the graph 'duel' needs a judge"):
            as_runnable("duel", context, options={"baseline": "sim/weak"})
        with pytest.raises(ConfigError, match=r"the graph asks a judge, and none is named: judge=\.\.\."):
            await context.ask(answer_question(case))
    [sample] = world.samples(write_world, 1)
    scoring = as_runnable("checkpoint_scoring", models=("sim/strong",), blobs=world.blobs)
    items = [{"model": "sim/strong"}]
    ruled = await scoring.ainvoke({"sample": sample, "items": items})
    assert ruled["items"][0]["final"].rule
    criteria = (await world.run("cognitive_replay", {"sample": sample}))["criteria"]
    with pytest.raises(ConfigError, match="the graph 'checkpoint_scoring' needs a judge"):
        await scoring.ainvoke({"sample": sample, "criteria": criteria, "items": items})


async def test_a_response_is_a_value_its_text_or_an_id(world: World) -> None:
    """Each graph that takes a response takes its text, and the id of a stored one, with the same result."""
    case, _ = world.samples(write_creative)
    [sample] = world.samples(write_world, 1)
    criteria = (await world.run("cognitive_replay", {"sample": sample}))["criteria"]
    first, second = "Two red cups stand on the table.\nFinal answer: 2", "There are three cups.\nFinal answer: 3"
    value = Response(sample=sample.digest, model="sim/weak", text=first)
    told = Response(sample=case.digest, model="sim/strong", text=first)
    base = Response(sample=case.digest, model="sim/weak", text=second)
    store = MemoryStore()
    for response in (value, told, base):
        await store.put(response)
    forms: dict[str, list[dict[str, Any]]] = {
        "checkpoint_scoring": [
            {"sample": sample, "criteria": criteria, "items": [{"model": "sim/weak", "response": form}]}
            for form in (value, first, value_id(value))
        ],
        "deciding": [
            {"sample": sample, "items": [{"model": "sim/weak", "response": form}]}
            for form in (value, first, value_id(value))
        ],
        "refinement": [
            {"sample": sample, "criteria": criteria, "model": "sim/weak", "response": form}
            for form in (value, first, value_id(value))
        ],
        "duel": [
            {"sample": case, "items": [{"model": "sim/strong", "response": form, "baseline": other}]}
            for form, other in ((told, base), (first, second), (value_id(told), value_id(base)))
        ],
    }
    for name, inputs in forms.items():
        options = {"baseline": "sim/weak"} if name == "duel" else {}
        how: Any = {"models": ("sim/strong", "sim/weak"), "store": store, "options": options}
        results = [await world.run(name, input, **how) for input in inputs]
        assert results[0] == results[1] == results[2], name
    ranked = await world.run("batch_ranking", {"sample": sample, "responses": [first, second]})
    assert len(ranked["result"].ranks) == 2
    assert (await world.run("criteria_making", {"sample": sample, "auxiliary": [first, second]}))["result"].criteria


async def test_an_unknown_argument_is_named(world: World) -> None:
    """What neither a graph's runnable nor a context takes is an error with the options of the graph, and not ignored."""
    with pytest.raises(
        ConfigError,
        match=r"as_runnable\('peer_review'\) takes no panel=: it is an option of the graph, options=\{'panel'",
    ):
        as_runnable("peer_review", panel=PANEL)  # pyright: ignore
    with pytest.raises(
        ConfigError,
        match=r"takes no chat_model=; did you mean 'chat_models'.*; the graph has the options judge, .*baseline",
    ):
        as_runnable("duel", judge=JUDGE, chat_model={})  # pyright: ignore
    with pytest.raises(ConfigError, match="memory_context takes no blob=; did you mean 'blobs'"):
        async with memory_context(judge=JUDGE, blob=world.blobs):  # pyright: ignore
            pass


async def test_a_duel_with_the_reference_answer(world: World) -> None:
    """The baseline `reference` is the sample's own answer, in which no model is asked; a sample without one is named."""
    case, _ = world.samples(write_creative)
    items = [{"model": "sim/strong"}]
    for sample in (case, case.model_copy(update={"reference_answer": "Once there was a cup."})):
        runnable = as_runnable("duel", judge=JUDGE, models=("sim/strong",), blobs=world.blobs)
        if sample.reference_text:
            [duel] = (await runnable.ainvoke({"sample": sample, "items": items}))["items"]
            assert (duel["baseline"].model, duel["baseline"].text) == ("reference", sample.reference_text)
            assert -100 <= duel["score"] <= 100
        else:
            with pytest.raises(DataError, match=f"sample '{sample.id}' has no reference answer to compare with"):
                await runnable.ainvoke({"sample": sample, "items": items})


class Kept(TypedDict, total=False):
    """The checkpointed state of somebody else's graph."""

    sample: Sample
    items: list[Any]
    result: list[Any]


async def test_checkpoints_of_another_graph_hold_values(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """A program's own saver writes and reads the values of a graph without a warning, and gives them back equal."""
    case, _ = world.samples(write_creative)
    image, _ = world.samples(write_described)
    duel = as_runnable("duel", judge=JUDGE, models=("sim/strong",), options={"baseline": "sim/weak"}, blobs=world.blobs)
    inputs: list[tuple[Any, Any]] = [
        (duel, {"sample": case, "items": [{"model": "sim/strong"}]}),
        (review(world), {"sample": image}),
    ]
    for runnable, input in inputs:
        graph = StateGraph(Kept).add_node("part", runnable).add_edge(START, "part").compile(InMemorySaver())
        config: Any = {"configurable": {"thread_id": "one"}}
        state = await graph.ainvoke(input, config)
        assert (await graph.aget_state(config)).values == state
        assert isinstance(state["sample"], Sample)
    assert not [record for record in caplog.records if record.name.startswith("langgraph")]
