"""The graph of reports in words over planted tables: what is planted is named, and among equals nothing is."""

from collections.abc import Mapping

import pytest

from dokimasia.domain.call import Chat, ModelCall, ModelRef, ModelSpec
from dokimasia.domain.diagnosis.report import Report
from dokimasia.domain.diagnosis.tables import Diagnosis
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.sample import TextPart
from dokimasia.errors import ConfigError
from dokimasia.gateway.doubles import FunctionGateway
from dokimasia.graphs import diagnosis
from dokimasia.graphs.diagnosis import DiagnosisContext
from dokimasia.methods.diagnosis.tables import assets_of
from dokimasia.prompts import recognise
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.diagnosing import diagnosis_reply
from dokimasia.simulation.lexicon import made_up_capabilities, parent_of
from dokimasia.simulation.profiles import as_judge, find_profile
from dokimasia.simulation.requests import Inputs
from dokimasia.storage.memory import MemoryStore
from tests.planted_material import world

pytestmark = pytest.mark.quick

WEAK = parent_of(next(iter(made_up_capabilities())))
JUDGE = {"judge": ModelSpec(ref=ModelRef(name="judge", model="test/judge"))}


def planted_diagnosis(seed: int, weak: Mapping[str, Mapping[str, float]], *, n: int = 400) -> Diagnosis:
    """The tables of models of the made-up world, on a tree that is mapped without a mistake."""
    material = world(seed, weak, n=n)
    return Diagnosis(
        run="run", status="done", seed=seed, grouping="tree", models=material.models, assets=assets_of(material)
    )


async def reports(tables: Diagnosis, judge: str = "sim/judge") -> dict[str, Report]:
    """What a simulated judge writes on tables, by subject."""
    profile = as_judge(find_profile(judge))

    def reply(call: ModelCall) -> str:
        assert isinstance(call, Chat)
        request = recognise(call.messages)
        assert request is not None
        return diagnosis_reply(
            profile, request.name, Inputs.model_validate(request.inputs), Draws(f"{request.name}/{request.inputs}")
        )

    store = MemoryStore()
    context = DiagnosisContext(
        FunctionGateway(reply), store, GraphOptions(judge="judge", models=JUDGE), diagnosis=tables
    )
    state = await diagnosis.build().compile().ainvoke({}, context=context)
    assert not state["failed"]
    return {subject: await store.get(Report, id) for subject, id in state["reports"].items()}


async def test_the_report_names_the_weakness_that_is_planted_and_that_the_tables_mark() -> None:
    """In nearly every world the tables mark the planted capability, and then the report says so, verified throughout."""
    marked = 0
    for seed in range(3):
        tables = planted_diagnosis(seed, {"m-weak": {WEAK: 0.15}, "m-even": {}})
        leaves = tables.asset("leaves/m-weak")
        assert leaves is not None
        planted = [row for row in leaves.rows if row.node.startswith(WEAK) and row.mark == "weak"]
        marked += bool(planted)
        found = await reports(tables)
        assert not any(report.unverified for report in found.values())
        said = [one.text for one in found["m-weak"].verified]
        for row in planted:
            name = str(row.cells[0].value)
            assert any(f"m-weak is weak at {name}," in text for text in said), said
    assert marked >= 2


async def test_among_equals_the_report_claims_no_difference() -> None:
    """Of two models of one skill, no report says that one is weak, strong, better or worse, but where a row is marked."""
    quiet = 0
    for seed in range(3):
        tables = planted_diagnosis(50 + seed, {"m-one": {}, "m-other": {}}, n=240)
        sure = {row.mark for asset in tables.assets for row in asset.rows} & {"weak", "strong", "better", "worse"}
        said = " ".join(one.text for report in (await reports(tables)).values() for one in report.verified)
        claimed = {word for word in ("weak", "strong", "better", "worse", "higher", "lower") if f" {word} " in said}
        assert sure or not claimed
        quiet += not claimed
    assert quiet >= 2


async def test_what_a_careless_writer_gets_wrong_is_not_verified() -> None:
    """Whatever is verified of a careless writer's report stands in a careful one's, too; the rest says what is wrong."""
    wrong = 0
    for seed in range(3):
        tables = planted_diagnosis(seed, {"m-weak": {WEAK: 0.15}, "m-even": {}})
        careful = {one.text for report in (await reports(tables)).values() for one in report.verified}
        for report in (await reports(tables, "sim/judge-fabulist")).values():
            wrong += report.unverified_at_first
            assert {one.text for one in report.verified} <= careful
            assert report.unverified_at_first >= len(report.unverified)
            assert all(fault.reason for one in report.unverified for fault in one.faults)
    assert wrong


async def test_a_report_goes_back_once_with_every_fault_and_the_better_one_stays() -> None:
    """All faults of all sentences are named; what the second reply leaves is shown as unverified, and nothing is cut."""
    tables = planted_diagnosis(0, {"m-one": {}})
    bad = "It has 3 leaves and {atlantis:1.x}.\nIt ranks 1st.\nIt is a model."
    asked: list[str] = []

    def reply(call: ModelCall) -> str:
        assert isinstance(call, Chat)
        request = recognise(call.messages)
        if request is not None and request.name == "diagnosis_salient":
            return "[models:1]"
        asked.append("".join(part.text for part in call.messages[-1].parts if isinstance(part, TextPart)))
        return bad if len(asked) == 1 else "It has some leaves.\nIt ranks 1st.\nIt is a model."

    store = MemoryStore()
    options = GraphOptions(judge="judge", models=JUDGE)
    context = DiagnosisContext(FunctionGateway(reply), store, options, diagnosis=tables)
    state = await diagnosis.build().compile().ainvoke({}, context=context)
    report = await store.get(Report, state["reports"]["m-one"])
    assert len(asked) == 2
    for named in ("digits outside of a place: 3;", "no table 'atlantis'", "digits outside of a place: 1st;"):
        assert named in asked[1]
    assert [one.verified for one in report.sentences] == [True, False, True]
    assert (report.unverified_at_first, len(report.unverified), report.repaired) == (2, 1, True)


async def test_without_tables_there_is_nothing_to_write() -> None:
    """The message says what the context lacks."""
    context = DiagnosisContext(FunctionGateway(lambda _: ""), MemoryStore(), GraphOptions(judge="judge", models=JUDGE))
    with pytest.raises(ConfigError, match="diagnosis="):
        await diagnosis.build().compile().ainvoke({}, context=context)
