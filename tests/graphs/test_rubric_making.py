"""Making rubrics, reply by reply: what is mended, what is dropped and why, and which failures end a sample."""

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from dokimasia.domain.call import Chat, ModelCall, ModelRef, ModelSpec
from dokimasia.domain.density import Domain
from dokimasia.domain.rubric import RubricOptions, RubricSet, RubricSource
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import CallFailed
from dokimasia.gateway.doubles import FunctionGateway, Reply
from dokimasia.graphs import drive
from dokimasia.graphs.context import Context
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.rubrics import rubric_making
from dokimasia.prompts import recognise
from dokimasia.storage.memory import MemoryStore

IMAGE = ImageRef(sha256="ab" * 32, media_type="image/png", width=3, height=4)
SAMPLE = Sample(id="s", images=(IMAGE,), prompt="Describe it.")
CAPTION = "A black cat sits on a white fridge. A magnet shaped like a banana is on the door. Two cups stand on it."
NAMES = ("judge", "p1", "p2", "m1", "m2", "m3")

Say = Callable[[str, Mapping[str, str], str, int], Reply | None]


def rubric(text: str, **changes: Any) -> dict[str, Any]:
    fields = {"statement": f"The response must {text}.", "kind": "object", "evidence": "A black cat"}
    return {**fields, "polarity": "negative" if text.startswith("not ") else "positive", **changes}


GOOD = [rubric("mention a cat"), rubric("mention a fridge"), rubric("say that the magnet is a banana")]


POOL_TEXT = "A dog on a grey stove with two cups."
"""What a member of the pool says: it fails every ordinary rubric."""

ERRORS = {"cat": ("A black cat", "A black fox"), "fridge": ("fridge", "oven"), "banana": ("banana", "pear")}
ERRORS |= {"dog": ("A black cat sits", "A black dog sits"), "count": ("Two cups", "Three cups")}
"""The words that an error changes, by what it is about, or by its dimension where it is about nothing."""


def planted(inputs: Mapping[str, str]) -> str:
    """What a perturbing model plants: what is known of what each error is about, else nothing."""
    rows: list[dict[str, Any]] = []
    for error in json.loads(inputs["errors"]):
        about = error.get("about", error["dimension"])
        found = next((pair for word, pair in ERRORS.items() if word in about), None)
        changes = {"changes": [{"original": found[0], "new": found[1]}]} if found else {"none": True}
        rows.append({"n": error["n"], **changes})
    return json.dumps(rows)


def assessed(inputs: Mapping[str, str]) -> str:
    """What a judge says that goes by a rubric's last word: it stands in the response, or must not."""
    groups: list[str] = []
    for letter in "ab":
        results: list[bool] = []
        for row in json.loads(inputs[f"group_{letter}"]):
            said = row["statement"].rstrip(".").split()[-1].lower() in inputs["response"].lower()
            results.append(said != (" not " in row["statement"]))
        said = "".join(f"<Result>{str(one).lower()}</Result>" for one in results)
        groups.append(f"<Group{letter.upper()}>{said}</Group{letter.upper()}>")
    return f"<Assessment>{''.join(groups)}</Assessment>"


def ordinary(prompt: str, inputs: Mapping[str, str]) -> Reply:
    """What everybody says unless a test says otherwise."""
    if prompt == "perturbation":
        return planted(inputs)
    if prompt.startswith("rubric_assessment"):
        return assessed(inputs)
    if prompt.startswith("must_right"):
        return json.dumps(GOOD)
    if prompt == "candidate_plain":
        return POOL_TEXT
    if prompt.startswith("easy_wrong"):
        return json.dumps([rubric("not mention a dog", responses=[1, 2])])
    if prompt == "rubric_cross_check":
        count = len(json.loads(inputs["rubrics"]))
        return "\n".join(f"{n} | passes: yes | atomic: yes | decidable: yes" for n in range(1, count + 1))
    if prompt == "domain":
        return "It is a scene.\n<domain>natural</domain>"
    raise AssertionError(f"nothing is to be asked by {prompt}")


async def made(
    say: Say = lambda *_: None,
    *,
    panel: tuple[str, ...] = ("m1", "m2", "m3"),
    pool: tuple[str, ...] = ("p1", "p2"),
    domain: Domain | None = "natural",
    caption: str = CAPTION,
    published: bool = False,
) -> tuple[dict[str, Any], RubricSet | None, FunctionGateway]:
    """Make the sample's rubrics with models that say what a function says, or what is ordinary."""
    asked: dict[tuple[str, str], int] = {}

    def answer(call: ModelCall) -> Reply:
        assert isinstance(call, Chat)
        request = recognise(call.messages)
        assert request is not None
        key = (call.model.name, request.name)
        asked[key] = asked.get(key, 0) + 1
        said = say(request.name, request.inputs, call.model.name, asked[key])
        return ordinary(request.name, request.inputs) if said is None else said

    store, gateway = MemoryStore(), FunctionGateway(answer)
    source = RubricSource(sample_id="s", sample=SAMPLE.digest, images=(IMAGE.sha256,), caption=caption, domain=domain)
    options = RubricOptions(
        judge="judge",
        models={name: ModelSpec(ref=ModelRef(name=name, model=f"x/{name}")) for name in NAMES},
        pool=pool,
        panel=panel,
        sources={"s": await store.put(source)},
        published=published,
    )
    graph = drive.compiled(cast("GraphFile", rubric_making))
    inputs = {"sample": await store.put(SAMPLE)}
    state = await drive.run(graph, inputs, context=Context(gateway, store, options))
    result = await store.get(RubricSet, state["result"][0]) if state.get("result") else None
    return state, result, gateway


def labels(gateway: FunctionGateway) -> list[str]:
    return gateway.labels


async def test_the_straight_way() -> None:
    """Every model is asked once, sees what it should, and the set says who supports what."""
    state, made_set, gateway = await made()
    assert made_set is not None
    assert [one.stream for one in made_set.rubrics] == ["must_right"] * 3 + ["easy_wrong"]
    assert made_set.easy_wrong[0].support == ("p1", "p2")
    assert made_set.panel == ("m1", "m2", "m3")
    assert labels(gateway) == [
        "must_right_natural",
        "candidate_plain",
        "candidate_plain",
        "easy_wrong",
        "perturbation",
        *["rubric_assessment"] * 3,
        *["rubric_cross_check"] * 3,
        "perturbation",
        *["rubric_assessment"] * 3,
    ]
    assert len(state["calls"]) == 15
    shown = {one.prompt: one.shown for one in made_set.provenance}
    assert shown["must_right_natural"] == ("image", "caption")
    assert shown["easy_wrong"] == ("caption", "rubrics", "responses")
    assert shown["rubric_cross_check"] == ("caption", "rubrics")
    images = [bool(message.images) for call in gateway.calls if isinstance(call, Chat) for message in call.messages]
    assert images.count(True) == 3


async def test_the_prompt_is_the_domains_own() -> None:
    """Each domain has its prompt; a domain that the data do not name is asked for once."""
    for domain in ("document", "interface", "data", "stem", "logic", "creative"):
        _, _, gateway = await made(domain=cast("Domain", domain))
        assert labels(gateway)[0] == f"must_right_{domain}"
    _, made_set, gateway = await made(domain=None)
    assert labels(gateway)[:2] == ["domain", "must_right_natural"]
    assert made_set is not None
    assert made_set.domain == "natural"


async def test_a_rubric_that_asks_two_things_is_mended_once() -> None:
    """The judge is told which rubric breaks which rule; what it mends stays, marked, with its support."""

    def say(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
        if prompt.startswith("easy_wrong"):
            return json.dumps([rubric("say that the cat is black and that the fridge is white", responses=[2])])
        if prompt == "rubric_repair":
            assert inputs["problems"] == "rubric 4: it asks for more than one thing"
            return json.dumps([{"n": 4, **rubric("say that the fridge is white")}])
        return None

    _, made_set, gateway = await made(say, published=True)
    assert made_set is not None
    assert labels(gateway).count("rubric_repair") == 1
    last = made_set.rubrics[-1]
    assert (last.statement, last.repaired, last.support) == (
        "The response must say that the fridge is white.",
        True,
        ("p2",),
    )
    assert made_set.dropped == ()


async def test_what_stays_broken_is_dropped_with_the_reason() -> None:
    """A mending that mends nothing, is given up, or cannot be read, leaves the rubric out and says why."""
    double = rubric("mention a cat and a dog", responses=[1])

    def still(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
        if prompt.startswith("easy_wrong"):
            return json.dumps([double])
        if prompt == "rubric_repair":
            return json.dumps([{"n": 4, **double}])
        return None

    def given_up(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
        return '[{"n": 4, "drop": true}]' if prompt == "rubric_repair" else still(prompt, inputs, name, count)

    def unreadable(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
        return "I would rather not." if prompt == "rubric_repair" else still(prompt, inputs, name, count)

    for say, repairs in ((still, 1), (given_up, 1), (unreadable, 2)):
        _, made_set, gateway = await made(say, published=True)
        assert made_set is not None
        assert len(made_set.rubrics) == 3
        assert [(one.by, one.reason) for one in made_set.dropped] == [("rules", "it asks for more than one thing")]
        assert labels(gateway).count("rubric_repair") == repairs


async def test_duplicates_and_contradictions_between_the_streams() -> None:
    """What an easy-wrong rubric repeats or contradicts is found across streams, and the later one goes."""

    def say(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
        if prompt.startswith("easy_wrong"):
            rows = [rubric("state that a cat is present", responses=[1]), rubric("not mention a fridge", responses=[1])]
            return json.dumps(rows)
        return '[{"n": 4, "drop": true}, {"n": 5, "drop": true}]' if prompt == "rubric_repair" else None

    _, made_set, _ = await made(say, published=True)
    assert made_set is not None
    assert [one.reason for one in made_set.dropped] == ["it says the same as rubric 1", "it contradicts rubric 2"]


async def test_two_dissents_drop_a_rubric_and_one_does_not() -> None:
    """Members dissent on their own; of a panel of one the one dissent decides."""

    def dissent(*members: str) -> Say:
        def say(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
            if prompt != "rubric_cross_check" or name not in members:
                return None
            fine = "passes: yes | atomic: yes | decidable: yes"
            return "\n".join(
                f"{n} | {'passes: no | atomic: yes | decidable: yes' if n == 2 else fine}" for n in (1, 2, 3, 4)
            )

        return say

    _, one, _ = await made(dissent("m1"))
    _, two, _ = await made(dissent("m1", "m3"))
    _, alone, _ = await made(dissent("m1"), panel=("m1",))
    assert one is not None
    assert two is not None
    assert alone is not None
    assert len(one.rubrics) == 4
    assert [verdict.dissents for verdict in one.verdicts[1]] == [True, False, False]
    assert [gone.reason for gone in two.dropped] == [
        "m1: the caption does not pass it; m3: the caption does not pass it"
    ]
    assert [gone.by for gone in alone.dropped] == ["panel"]


async def test_a_member_that_fails_is_not_heard() -> None:
    """A member that gives one verdict too few twice, or none at all, dissents on nothing."""

    def say(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
        if prompt == "rubric_cross_check" and name == "m1":
            return "1 | passes: no | atomic: no | decidable: no"
        if prompt == "rubric_cross_check" and name == "m2":
            return CallFailed("api_error", "it is down")
        return None

    _, made_set, gateway = await made(say)
    assert made_set is not None
    assert made_set.panel == ("m3",)
    assert made_set.unheard == ("m1", "m2")
    assert len(made_set.rubrics) == 4
    assert labels(gateway).count("rubric_cross_check") == 4


async def test_of_a_pool_those_count_who_answer() -> None:
    """A member of the pool that fails is left out and named; numbers of responses are those of who answered."""

    def say(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
        if prompt == "candidate_plain" and name == "p1":
            return CallFailed("api_error", "it is down")
        return json.dumps([rubric("not mention a dog", responses=[1])]) if prompt.startswith("easy_wrong") else None

    _, made_set, _ = await made(say)
    assert made_set is not None
    assert (made_set.pool, made_set.unheard) == (("p2",), ("p1",))
    assert made_set.easy_wrong[0].support == ("p2",)


async def test_failures_that_end_the_sample() -> None:
    """No pool, no must-right rubrics, no money: a kind of failure and no set; money spares no half pool."""
    for prompt, name, failure, kind in (
        ("candidate_plain", "", CallFailed("api_error", "down"), "api_error"),
        ("candidate_plain", "p2", CallFailed("budget", "spent"), "budget"),
        ("must_right_natural", "", "[]", "unparsable"),
        ("easy_wrong", "", "hm", "unparsable"),
        ("rubric_cross_check", "m2", CallFailed("budget", "spent"), "budget"),
    ):

        def say(
            asked: str, inputs: Mapping[str, str], who: str, count: int, p=prompt, n=name, f=failure
        ) -> Reply | None:
            return f if asked == p and n in {"", who} else None

        state, made_set, _ = await made(say)
        assert made_set is None
        assert state["failed"] == kind


async def test_a_caption_of_3400_words_goes_through_whole() -> None:
    """Nothing is cut from a long golden caption, wherever it is shown."""
    long = f"{CAPTION} " + " ".join(f"word{n}" for n in range(3400))
    seen: list[str] = []

    def say(prompt: str, inputs: Mapping[str, str], name: str, count: int) -> Reply | None:
        seen.extend([prompt] if inputs.get("caption") == long else [])
        return None

    _, made_set, _ = await made(say, caption=long)
    assert made_set is not None
    assert made_set.caption == long
    assert seen == ["must_right_natural", "easy_wrong", *["rubric_cross_check"] * 3]
    assert made_set.tried[0].passes == (True,) * 4
