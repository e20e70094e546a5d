"""Passports made from finished probes of the planted world."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from benchmarks.planted_perturbations import write_perturbations
from dokimasia.algorithms.blindspots import failure_rates
from dokimasia.cli.passports import passport_command as command
from dokimasia.domain.passport import Passport
from dokimasia.errors import ConfigError, DataError, NotFound
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.probe import ProbeRequest, passports, probe
from dokimasia.methods.probe.passports import material_of
from dokimasia.people.passports import encoded, passport_of, read_passport, verdict_on
from dokimasia.people.passports.blocks import blocks_of
from dokimasia.report.blocks import Paragraph, Table, plain
from dokimasia.settings import Settings, load_settings
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import get_run
from tests.planted_judges import detections, planted_passport

JUDGE = "sim/judge-noisy"
DIMENSIONS = ("entity_substitution", "numerical_errors", "score_neutral")
EVALUATORS = ("single-vanilla", "pairwise-vanilla", "checkpoints", "right-or-wrong")


@pytest.fixture(scope="module")
def probes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of perturbations of four pictures, of which people said what they were meant as."""
    path = tmp_path_factory.mktemp("perturbed") / "items.jsonl"
    write_perturbations(path, 4, dimensions=DIMENSIONS, label="meant")
    return path


@pytest.fixture(scope="module")
def one_home(probes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one finished probe of a judge."""
    home = tmp_path_factory.mktemp("probed") / "home"
    settings = load_settings(home=home, cwd=home.parent, env={})
    asyncio.run(probe(ProbeRequest(data=probes, judges=(JUDGE,), evaluators=EVALUATORS), settings=settings))
    return home


@pytest.fixture
def probed(one_home: Path, tmp_path: Path) -> Settings:
    """A copy of it."""
    return load_settings(home=shutil.copytree(one_home, tmp_path / "probed"), cwd=tmp_path, env={})


def made(settings: Settings, judge: str = JUDGE, *runs: str) -> Passport:
    """Return the passport of a judge of a home."""
    with Home.open(settings.home, write=False) as home:
        return passport_of(material_of(home, judge, runs))


def test_a_passport_says_what_its_probe_found(probed: Settings) -> None:
    """It names model, prompts, data and days, counts each item once under each evaluator, and knows what judging cost."""
    found = made(probed)
    assert (found.judge.model, found.judge.simulated) == (JUDGE, True)
    assert found.judge.sampling is not None
    assert found.judge.sampling_published is not None
    assert found.judge.sampling_published.temperature == 0
    assert {"checkpoints", "equivalence"} <= found.prompts.keys()
    data = found.data[0]
    assert (data.images, data.checked) == (4, 1.0)
    assert {one.evaluator for one in found.errors} == set(EVALUATORS)
    for evaluator in EVALUATORS:
        rates = found.rates("image-to-text", evaluator)
        neutral = next(one for one in found.neutral if one.evaluator == evaluator)
        assert rates is not None
        assert rates.n + neutral.n == data.items
        assert next(one.cost for one in found.replies if one.evaluator == evaluator) == 0
    assert [one.evaluator for one in found.binary] == ["right-or-wrong"]
    assert [one.evaluator for one in found.places] == ["pairwise-vanilla"]
    assert found.dates is not None


async def test_the_same_probe_makes_the_same_passport(probed: Settings, probes: Path, tmp_path: Path) -> None:
    """From one home it is the same bytes again, and from another home with the same probe the same identity."""
    other = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    await probe(ProbeRequest(data=probes, judges=(JUDGE,), evaluators=EVALUATORS), settings=other)
    assert encoded(made(probed)) == encoded(made(probed))
    assert made(other).identity == made(probed).identity


async def test_a_probe_is_read_once_for_all_its_judges(
    probes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows and probes are read once, however many judges were asked; each has the sentences that it has by itself."""
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    judges = (JUDGE, "sim/judge")
    done = await probe(ProbeRequest(data=probes, judges=judges, evaluators=("single-vanilla",)), settings=settings)
    read: list[str] = []

    def counted(home: Home, run: str) -> list[ResultRow]:
        read.append(run)
        return results(home, run)

    monkeypatch.setattr(passports, "results", counted)
    with Home.open(settings.home, write=False) as home:
        sentences = passports.suitability_of(home, get_run(home, done.run))
        assert read == [done.run]
        alone = [verdict_on(passports.check_of(home, judge, [done.run])[0]) for judge in judges]
    assert sentences == alone


def test_what_no_probe_asked_has_no_passport(probed: Settings) -> None:
    """A judge that was not probed is refused, those that were are named, and so is the command that probes it."""
    with pytest.raises(NotFound, match=f"asked a judge 'sim/judge' \\(there is {JUDGE}\\): dokimasia probe"):
        made(probed, "sim/judge")


async def test_only_probes_make_passports(probed: Settings, world: Path) -> None:
    """A run of another kind is refused by --run."""
    request = EvaluationRequest(data=world, judge=JUDGE, models=("sim/weak",), limit=1)
    result = await evaluate(request, settings=probed)
    with pytest.raises(ConfigError, match="is of kind 'evaluate'; a passport is made from probes"):
        made(probed, JUDGE, result.run)


async def test_two_probes_by_other_prompts_make_no_passport(probed: Settings, probes: Path, tmp_path: Path) -> None:
    """Probes whose prompts differ do not speak of one judge; each alone does."""
    (tmp_path / "own").mkdir()
    shipped = Path(__file__).parents[2] / "dokimasia" / "prompts" / "evaluation" / "equivalence.md"
    text = shipped.read_text()
    version = next(line for line in text.splitlines() if line.startswith("version:"))
    (tmp_path / "own" / "equivalence.md").write_text(text.replace(version, "version: 99"))
    request = ProbeRequest(
        data=probes, judges=(JUDGE,), evaluators=("right-or-wrong",), prompts=(tmp_path / "own",), limit=2
    )
    other = await probe(request, settings=probed)
    with pytest.raises(ConfigError, match="another version of the prompt equivalence"):
        made(probed)
    assert made(probed, JUDGE, other.run).prompts["equivalence"].startswith("99:")


def run_verb(settings: Settings, *arguments: Any) -> Any:
    """Run the verb as the command line does."""
    return CliRunner().invoke(command, [*map(str, arguments), "--home", str(settings.home)])


async def test_the_verb_writes_what_it_shows(probes: Path, tmp_path: Path) -> None:
    """It prints tables, writes the file with -o, shows that file again, and refuses it once it was edited."""
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    await probe(ProbeRequest(data=probes, judges=(JUDGE,), evaluators=EVALUATORS[:2]), settings=settings)
    path = tmp_path / "judge.json"
    shown = run_verb(settings, JUDGE, "-o", path)
    assert shown.exit_code == 0, shown.output
    assert "Errors detected, image-to-text" in shown.output
    assert "single-vanilla: VG (" in shown.output
    assert read_passport(path) == made(settings)
    again = run_verb(settings, path, "--json")
    assert orjson.loads(again.output)["sha256"] == made(settings).sha256
    path.write_bytes(path.read_bytes().replace(b'"images": 4', b'"images": 40', 1))
    refused = run_verb(settings, path)
    assert isinstance(refused.exception, DataError)
    assert refused.exception.exit_code == 2


def test_kinds_of_error_are_listed_by_how_much_goes_undetected() -> None:
    """Behind all errors come groups and their kinds, the least detected first, and the table says so."""

    def drawn(**misses: float) -> tuple[list[str], list[str]]:
        blocks = list(blocks_of(planted_passport(detections(misses=misses, images=40))))
        table = next(one for one in blocks if isinstance(one, Table) and one.about.startswith("Detection rates"))
        groups = [plain(row[0]).split()[0] for row in table.rows if not plain(row[0]).startswith("  ")]
        return groups, [plain(one.text) for one in blocks if isinstance(one, Paragraph)]

    groups, lines = drawn(VG=0.05, VR=0.6)
    assert groups == ["all", "VR", "VG"]
    assert drawn(VG=0.6, VR=0.05)[0] == ["all", "VG", "VR"]
    assert any("Errors detected" in line and "the most undetected first" in line for line in lines)


def test_marks_tell_blind_spots_surely_missed_and_thin_rates_apart() -> None:
    """A blind spot has *, a rate whose whole interval lies below the bound !, one on few images ~; the marks are explained."""

    def drawn(**fields: Any) -> str:
        return str(list(blocks_of(planted_passport(detections(**fields)))))

    half_blind = drawn(misses={"VG": 0.05, "VR": 0.95}, images=40)
    assert "' *!'" in half_blind
    assert "' ~'" not in half_blind
    all_missed = drawn(misses=0.95, images=40)
    assert "' !'" in all_missed
    assert "' *'" not in all_missed
    few = drawn(misses=0.05, images=6)
    assert "' ~'" in few
    assert "(thin: 3 images)" in few
    assert "adjusted over all dimensions and evaluators of the probes in this passport" in few


def test_blind_spots_do_not_depend_on_the_order_of_items() -> None:
    """What a probe holds in its order and a passport in another gives the same p-values."""
    found = detections(misses={"VG": 0.3, "VR": 0.45}, images=20)
    rows, others = (failure_rates(items, seed=0) for items in (found, found[::-1]))
    spots = [{(one.evaluator, one.name): one.spot for one in several if one.spot} for several in (rows, others)]
    assert spots[0] == spots[1]
