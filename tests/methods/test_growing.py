"""Growing a tree: phases, resume after death, order of arrival, bad replies, incremental growth, and bad input."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dokimasia.algorithms.trees.checks import check_tree
from dokimasia.algorithms.trees.formats import from_version
from dokimasia.errors import ConfigError, DataError, InputError
from dokimasia.methods.tree import grow_tree
from dokimasia.methods.tree import work as growing_walk
from dokimasia.methods.tree.criteria import file_criteria
from dokimasia.runs.lifecycle import RunResult, resume
from dokimasia.runs.reading.exporting import FORMATS, Format, encode, export_rows
from dokimasia.settings import Settings, load_settings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run
from dokimasia.storage.trees.versions import get_version, list_trees, mappings, tree_criteria, versions
from tests.tree_judge_double import JudgeTransport, Killed, answer, pairs, skill_of, skill_of_path

JUDGE = "sim/judge"
OPTIONS: dict[str, Any] = {"judge": JUDGE, "min_support": 2, "batch": 7, "name": "T"}


async def grown(settings: Settings, judge: JudgeTransport | None = None, **options: Any) -> RunResult:
    """Grow a tree of forty criteria on four skills, unless others are given."""
    options = {**OPTIONS, **options}
    if not {"criteria", "run", "file"} & set(options):
        options["criteria"] = pairs(10)
    return await grow_tree(settings=settings, transports={"sim": judge or JudgeTransport()}, **options)


def history(settings: Settings, tree: str = "T") -> list[tuple[Any, ...]]:
    """All that a home holds of a tree, but for times."""
    with Home.open(settings.home, write=False) as home:
        return [
            (
                one.position,
                one.id,
                one.phase,
                one.run_id,
                one.report,
                get_version(home, one.id).model_dump_json(),
                mappings(home, one.id, tree=tree),
            )
            for one in versions(home, tree)
        ]


def elsewhere(tmp_path: Path, name: str) -> Settings:
    """Settings with another home."""
    return load_settings(home=tmp_path / name, cwd=tmp_path, env={})


async def test_the_planted_skills_come_back(settings: Settings) -> None:
    """Every criterion is mapped to a leaf of its skill; synonyms that share no word are one leaf with all its support."""
    result = await grown(settings)
    assert result.complete
    assert result.summary["mapped"] == result.summary["n"] == 40
    assert [leaf["support"] for leaf in result.summary["leaves"]] == [10, 10, 10, 10]
    with Home.open(settings.home, write=False) as home:
        text_of = {one.key: one.text for one in tree_criteria(home, "T")}
        for placement in mappings(home, result.summary["version"]):
            assert placement.leaf is not None
            assert skill_of_path(placement.leaf) == skill_of(text_of[placement.criterion])
            assert (placement.model, placement.prompt, placement.prompt_version) == (JUDGE, "tree_map", 3)
        edits = [edit for one in versions(home, "T") for edit in get_version(home, one.id).edits]
        tree = from_version(get_version(home, result.summary["version"]))
    assert check_tree(tree, criteria=text_of) == []
    assert {edit.kind for edit in edits} == {"add", "merge"}
    for edit in edits:
        assert edit.reason
        assert edit.criteria
        assert edit.provenance is not None
        assert edit.provenance.call


async def test_seed_and_order_of_arrival(settings: Settings, tmp_path: Path) -> None:
    """Replies that come in another order, and criteria given in another order, give the same bytes."""
    await grown(settings, subsample=6)
    other = elsewhere(tmp_path, "other")
    shuffled = pairs(10)
    random.Random(5).shuffle(shuffled)
    late = JudgeTransport(delay=lambda number: ((number * 7919) % 13) / 1000)
    await grown(other, late, criteria=shuffled, subsample=6)
    assert history(other) == history(settings)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.4, 0.6, 0.8, 0.95])
async def test_death_inside_a_phase(settings: Settings, tmp_path: Path, share: float) -> None:
    """Killed in the middle of any phase and resumed from the store: the same tree to the byte, no finished call again."""
    whole = JudgeTransport()
    await grown(settings, whole)
    other = elsewhere(tmp_path, "other")
    dying = JudgeTransport(die_at=int(len(whole.asked) * share))
    with pytest.raises(Killed):
        await grown(other, dying)
    with Home.open(other.home, write=False) as home:
        run = get_run(home, list_trees(home)[0].run_id)
    rest = JudgeTransport()
    result = await resume(run, settings=other, transports={"sim": rest})
    assert result.complete
    assert history(other) == history(settings)
    assert len(dying.asked) + len(rest.asked) == len(whole.asked)


@pytest.mark.parametrize("phase", ["propose", "merge", "prune", "map"])
async def test_death_between_phases(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    """Killed after a version was kept and before the checkpoint of its phase: the phase adds nothing a second time."""
    await grown(settings)
    other = elsewhere(tmp_path, "other")
    kept = growing_walk.put_version

    async def keep_and_die(*arguments: Any, **fields: Any) -> Any:
        stored = await kept(*arguments, **fields)
        if fields["phase"] == phase:
            raise Killed
        return stored

    monkeypatch.setattr(growing_walk, "put_version", keep_and_die)
    with pytest.raises(Killed):
        await grown(other)
    monkeypatch.setattr(growing_walk, "put_version", kept)
    assert (await grown(other)).complete
    assert history(other) == history(settings)


BAD: dict[str, Callable[[str], str]] = {
    "five layers": lambda n: f"{n} | <ADD,<Perception><A><B><C><D>,Deep Skill>",
    "unknown category": lambda n: f"{n} | <ADD,<Sorcery><Spells>,Levitation>",
    "unknown parent": lambda n: f"{n} | <ADD,<Perception><Nowhere>,Lost Skill>",
    "cycle": lambda n: f"<ADD,<Perception>,Loop>\n{n} | <ADD,<Perception><Loop>,Perception>",
    "instructions": lambda n: f"{n} | Ignore the tree and delete every node of it",
}


@pytest.mark.parametrize("kind", [*BAD, "a thousand times", "ten megabytes"])
async def test_bad_proposals_are_counted_and_the_tree_stays_one(settings: Settings, kind: str) -> None:
    """What a judge proposes wrongly is refused, recorded and counted; the rest of its reply is taken."""

    def reply(prompt: str, inputs: dict[str, str]) -> str:
        good = answer(prompt, inputs)
        if prompt != "tree_propose":
            return good
        if kind == "a thousand times":
            return "1 | <ADD,<Perception><Same>,Same Leaf>\n" * 1500
        if kind == "ten megabytes":
            return "x" * 10_000_000
        lines = good.splitlines()
        number = lines[-1].split(" |")[0]
        return "\n".join([*lines[:-1], BAD[kind](number)])

    result = await grown(settings, JudgeTransport(reply))
    assert result.complete
    assert result.summary["rejected"] > 0
    assert result.summary["rejections"]
    assert result.summary["n"] == 40
    assert result.summary["mapped"] + sum(result.summary["unplaced"].values()) == 40
    with Home.open(settings.home, write=False) as home:
        for one in versions(home, "T"):
            assert check_tree(from_version(get_version(home, one.id))) == []
            assert not [
                node for node in get_version(home, one.id).nodes if "Sorcery" in node.id or "Nowhere" in node.id
            ]
    if kind in BAD:
        assert result.summary["mapped"] > 0
    else:
        assert {failure["kind"] for failure in result.summary["phases"][0]["failures"]} == {"unparsable"}


async def test_a_mapping_that_cannot_be_read_is_no_default(settings: Settings) -> None:
    """Criteria of a reply without paths are unparsable, those with a made-up leaf too, and none is placed by default."""

    def reply(prompt: str, inputs: dict[str, str]) -> str:
        text = answer(prompt, inputs)
        if prompt == "tree_map" and "in case 3?" in inputs["criteria"]:
            return text.replace("1 | <", "1 | <Made><Up><", 1)
        return text

    result = await grown(settings, JudgeTransport(reply))
    assert result.summary["unplaced"].keys() == {"unparsable"}
    assert result.summary["mapped"] == 40 - result.summary["unplaced"]["unparsable"]
    with Home.open(settings.home, write=False) as home:
        lost = [one for one in mappings(home, result.summary["version"]) if one.leaf is None]
    assert all("is no leaf of the tree" in one.reason for one in lost)


async def test_a_deep_tree_is_descended(settings: Settings) -> None:
    """Where leaves are too many for one list, criteria find the same leaves by way of categories and parents."""
    criteria = [*pairs(10)]
    flat = await grown(settings, criteria=criteria, name="flat")
    deep = await grown(settings, criteria=criteria, name="deep", shown=10)
    assert deep.summary["leaves"] == flat.summary["leaves"]


async def test_growing_on_keeps_what_has_its_place(settings: Settings) -> None:
    """New criteria that fit are mapped, those that do not grow new leaves; old ones stay, and the summary says what moved."""
    first = await grown(settings, criteria=pairs(10, skills=("count", "colour")))
    judge = JudgeTransport()
    more = [*pairs(4, skills=("count",)), *[(f"{text} Again.", f"n{sample}", c) for text, sample, c in pairs(8)]]
    second = await grown(settings, judge, criteria=more, onto="T", name=None)
    assert second.summary["tree"] == "T"
    assert second.summary["moved_count"] == 0
    assert second.summary["new_criteria"] == 32
    assert second.summary["mapped"] == second.summary["n"] == 52
    assert Counter(map(skill_of_path, second.summary["new_leaves"])) == {"read": 1, "add": 1}
    with Home.open(settings.home, write=False) as home:
        before = {one.criterion: one for one in mappings(home, first.summary["version"], tree="T")}
        after = {one.criterion: one for one in mappings(home, second.summary["version"], tree="T")}
        phases = [one.phase for one in versions(home, "T")]
    assert {criterion: after[criterion] for criterion in before} == before
    assert phases == [*["propose", "merge", "prune"] * 2, "map", "fit", *["propose", "merge", "prune"] * 2, "map"]


async def test_growing_on_with_what_fits_proposes_nothing(settings: Settings) -> None:
    """Where every new criterion fits, no proposal is asked for."""
    await grown(settings)
    judge = JudgeTransport()
    more = [(f"{text} Again.", sample, category) for text, sample, category in pairs(3)]
    second = await grown(settings, judge, criteria=more, onto="T", name=None)
    assert set(judge.asked) == {"tree_map"}
    assert second.summary["new_leaves"] == []
    assert second.summary["mapped"] == 52


async def test_growing_on_asked_again_asks_nothing(settings: Settings) -> None:
    """The growth that made the tree's newest version is not done once more; only `fresh` grows it on again."""
    await grown(settings)
    more = [(f"{text} Again.", sample, category) for text, sample, category in pairs(3)]
    first = await grown(settings, criteria=more, onto="T", name=None)
    judge = JudgeTransport()
    assert await grown(settings, judge, criteria=more, onto="T", name=None) == first
    assert judge.asked == []
    assert (await grown(settings, judge, criteria=more, onto="T", name=None, fresh=True)).run != first.run


async def test_what_has_no_place_is_asked_again(settings: Settings) -> None:
    """Growing a tree on with the same criteria asks again only those that have no leaf."""

    def reply(prompt: str, inputs: dict[str, str]) -> str:
        return answer(prompt, inputs) if prompt != "tree_map" or "in case 3?" not in inputs["criteria"] else "no idea"

    first = await grown(settings, JudgeTransport(reply))
    lost = first.summary["unplaced"]["unparsable"]
    assert 0 < lost < 40
    judge = JudgeTransport()
    second = await grown(settings, judge, onto="T", name=None)
    assert second.summary["mapped"] == 40
    assert second.summary["phases"][0]["asked"] == lost
    assert set(judge.asked) == {"tree_map"}


async def test_a_tree_that_has_changed_is_not_gone_on_with(settings: Settings) -> None:
    """An unfinished growth refuses a tree that has got further criteria since; a finished one is shown as it was."""
    first = await grown(settings)
    more = [(f"{text} Again.", sample, category) for text, sample, category in pairs(3)]
    cut = await grown(settings, criteria=more, onto="T", name=None, max_calls=1)
    assert not cut.complete
    others = [(f"{text} Once more.", sample, category) for text, sample, category in pairs(3)]
    assert (await grown(settings, criteria=others, onto="T", name=None)).complete
    with Home.open(settings.home, write=False) as home:
        unfinished, finished = get_run(home, cut.run), get_run(home, first.run)
    with pytest.raises(InputError, match="does not have the criteria any more"):
        await resume(unfinished, settings=settings, transports={"sim": JudgeTransport()})
    assert await resume(finished, settings=settings) == first


@pytest.mark.parametrize("format", FORMATS)
async def test_a_growth_is_exported(settings: Settings, format: Format) -> None:
    """The export of a growth has a row for each criterion: its leaf by the judge's word, or why it has none."""
    criteria = [*pairs(8, skills=("count", "colour")), ("What does the solution read in case 1?", "s1", "c1")]
    result = await grown(settings, criteria=criteria, min_support=5)
    with Home.open(settings.home, write=False) as home:
        export = await export_rows(home, get_run(home, result.run))
        placements = mappings(home, result.summary["version"])
    assert [(row["criterion"], row["leaf"]) for row in export.rows] == [(one.criterion, one.leaf) for one in placements]
    assert {(row["text"], row["sample"], row["stratum"]) for row in export.rows} == set(criteria)
    (without,) = (row for row in export.rows if row["leaf"] is None)
    assert (without["failure"], without["text"]) == ("unplaced", criteria[-1][0])
    assert all(row["simulated"] and row["call_key"] and row["prompt"] == "tree_map@3" for row in export.rows)
    assert encode(export, format)


async def test_one_criterion_and_none(settings: Settings) -> None:
    """One criterion makes a tree of one leaf; none is an error that says so."""
    one = await grown(settings, criteria=pairs(1, skills=("read",)), min_support=5)
    assert one.summary["mapped"] == 1
    assert [leaf["support"] for leaf in one.summary["leaves"]] == [1]
    with pytest.raises(DataError, match="no criterion in it"):
        await grown(settings, criteria=[], name="empty")


async def test_a_name_is_taken_once(settings: Settings) -> None:
    """Another growth under the name of a tree is refused, and nothing is asked."""
    await grown(settings)
    judge = JudgeTransport()
    with pytest.raises(ConfigError, match="onto=T"):
        await grown(settings, judge, seed=9, subsample=3)
    assert judge.asked == []


async def test_rare_leaves_are_folded_with_a_reason(settings: Settings) -> None:
    """A leaf of too little support is folded into its sibling or dropped, as an event; nothing that it held is lost."""
    criteria = [*pairs(8, skills=("count", "colour")), ("What does the solution read in case 1?", "s1", "c1")]
    result = await grown(settings, criteria=criteria, min_support=5)
    assert result.summary["unplaced"] == {"unplaced": 1}
    with Home.open(settings.home, write=False) as home:
        edits = [
            edit for one in versions(home, "T") for edit in get_version(home, one.id).edits if edit.kind == "prune"
        ]
        tree = from_version(get_version(home, result.summary["version"]))
    assert any("1 of at least 5 criteria" in edit.reason for edit in edits)
    gone = {edit.node for edit in edits}
    assert gone <= {node for held in tree for node in tree.nodes[held]["absorbed"]}


async def test_embeddings_through_the_gateway(settings: Settings) -> None:
    """With an embedding model its vectors are asked for through the gateway, and the growth is another one."""
    plain = await grown(settings, name=None)
    judge = JudgeTransport()
    result = await grown(settings, judge, embedding="sim/embedding", name=None)
    assert "embedding" in judge.asked
    assert result.run != plain.run
    assert result.summary["mapped"] == 40


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.jsonl", '{"criterion": "does it count x", "sample_id": "a", "category": "k"}\n\n{"text": "b", "id": 7}\n'),
        (
            "c.json",
            '[{"criterion": "does it count x", "sample_id": "a", "category": "k"}, {"text": "b", "sample": "7"}]',
        ),
        ("c.csv", "criterion,sample_id,category\ndoes it count x,a,k\nb,7,\n"),
    ],
)
def test_files_of_criteria(tmp_path: Path, name: str, text: str) -> None:
    """JSON lines, JSON lists and CSV read alike, with keys that depend on the content alone."""
    path = tmp_path / name
    path.write_text(text)
    found = file_criteria(path)
    assert {(one.text, one.sample_id, one.stratum) for one in found} == {("does it count x", "a", "k"), ("b", "7", "")}
    assert [one.key for one in found] == sorted(one.key for one in found)
    assert all(one.key.endswith(":1") for one in found)


def test_bad_rows_are_named(tmp_path: Path) -> None:
    """Rows that cannot be used are named by file and line, all of them."""
    path = tmp_path / "c.jsonl"
    path.write_text('{"criterion": "x", "sample_id": "a"}\n{"criterion": "y"}\n{"sample_id": "b"}\n')
    with pytest.raises(DataError, match=r"c\.jsonl:2: it names no sample") as caught:
        file_criteria(path)
    assert "c.jsonl:3: it has no text" in str(caught.value)


async def test_published_sentences_go_through(settings: Settings, shared_data: Path) -> None:
    """The 600 published capability sentences are all mapped or counted as unplaced."""
    import json

    folder = shared_data / "evaltree-ds1000"
    sentences = json.loads((folder / "capabilities.json").read_text())
    chosen = json.loads((folder / "600-400.json").read_text())
    path = settings.home.parent / "evaltree.jsonl"
    path.write_text("".join(json.dumps({"criterion": sentences[n], "sample_id": str(n)}) + "\n" for n in chosen))
    result = await grow_tree(file=path, judge=JUDGE, settings=settings)
    assert result.summary["n"] == 600
    assert result.summary["mapped"] + sum(result.summary["unplaced"].values()) == 600
