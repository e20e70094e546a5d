"""The planted answers against the planted facts, derived anew from the facts alone."""

from dokimasia.simulation.scene import Domain, Scene, SceneQuestion
from dokimasia.simulation.scenes import make_scene


def facts(scene: Scene) -> dict[str, str]:
    """Return the scene's values by fact id."""
    return {fact.id: fact.value for fact in scene.facts}


def scenes(domain: Domain, layout: str) -> list[Scene]:
    """Return some scenes of one layout."""
    made = [make_scene(domain, seed) for seed in range(90)]
    return [scene for scene in made if scene.layout == layout]


def asked(scene: Scene, kind: str) -> SceneQuestion:
    """Return the scene's question of that kind."""
    return next(question for question in scene.questions if question.kind == kind)


def test_counts_in_a_street_are_those_of_its_facts() -> None:
    """The count question's answer is the number of things of that kind that the facts name."""
    for scene in scenes("natural", "street"):
        values = facts(scene)
        kinds = [value for id, value in values.items() if id.endswith(".kind")]
        question = asked(scene, "count")
        named = question.text.removeprefix("How many ").split(" are there")[0]
        assert int(question.answer) == sum(named in (kind + "s", kind + "es") for kind in kinds)


def test_invoice_lines_multiply_and_add_up() -> None:
    """Quantity times price is the amount, and the amounts add up to the total."""
    for scene in scenes("document", "invoice"):
        values = facts(scene)
        rows = [id.removesuffix(".qty") for id in values if id.endswith(".qty")]
        amounts = [int(values[f"{row}.amount"][1:]) for row in rows]
        assert amounts == [int(values[f"{row}.qty"]) * int(values[f"{row}.price"][1:]) for row in rows]
        assert sum(amounts) == int(values["total"][1:])


def test_comparisons_of_bars_follow_from_their_values() -> None:
    """The bar that the answer names has the greater value, by the difference that it names."""
    for scene in scenes("data", "bars"):
        tall = {f.subject: int(f.value) for f in scene.facts if f.id.endswith(".value")}
        question = asked(scene, "compare")
        label, gap = question.answer.split(", by ")
        low = next(name for name in tall if name != label and f"for {name}" in question.text)
        assert tall[label] - tall[low] == int(gap.split()[0])


def test_pie_shares_make_a_whole() -> None:
    """The shares of a pie chart add up to 100 percent."""
    for scene in scenes("data", "pie"):
        assert sum(int(f.value[:-1]) for f in scene.facts if f.id.endswith(".share")) == 100


def test_the_current_obeys_ohms_law() -> None:
    """An open switch lets no current flow; a closed one lets voltage over total resistance flow."""
    seen = set()
    for scene in scenes("stem", "circuit"):
        question, values = asked(scene, "infer"), facts(scene)
        if "current" not in question.text:
            continue
        total = sum(int(value.split()[0]) for id, value in values.items() if id.endswith(".value"))
        current = int(values["battery"].split()[0]) / total if values["switch"] == "closed" else 0
        assert question.answer == f"{current:.0f} A"
        assert values["lamp"] == ("lit" if current else "dark")
        seen.add(bool(current))
    assert seen == {True, False}


def test_what_fills_the_gap_of_a_matrix_follows_from_its_rows_and_columns() -> None:
    """The missing cell has its row's shape, its column's colour, and the number that both lack."""
    for scene in scenes("logic", "matrix"):
        values = facts(scene)
        row, column = next((r, k) for r in range(3) for k in range(3) if f"cell{r}{k}.shape" not in values)
        shape = values[f"cell{row}{(column + 1) % 3}.shape"]
        tone = values[f"cell{(row + 1) % 3}{column}.tone"]
        lacking = {"1", "2", "3"} - {values[f"cell{row}{k}.many"] for k in range(3) if k != column}
        lacking_below = {"1", "2", "3"} - {values[f"cell{r}{column}.many"] for r in range(3) if r != row}
        assert lacking == lacking_below
        assert asked(scene, "infer").answer == f"{tone} {shape}, number {lacking.pop()}"


def test_balances_tilt_towards_the_heavier_load() -> None:
    """The tilted balance hangs lower on the side that the level ones make heavier."""
    for scene in scenes("logic", "balance"):
        values = facts(scene)
        worth = int(asked(scene, "infer").answer)
        at = next(n for n in range(3) if values[f"state{n}"] != "level")
        assert values[f"state{at}"] == ("left" if worth > int(values[f"pan{at}right.many"]) else "right")


def test_the_comic_ends_with_what_was_had_brought_and_taken() -> None:
    """What is left is what was had, plus what was brought, less what was taken away, and more than nothing."""
    for scene in scenes("creative", "comic"):
        have, more, less = (
            int("".join(c for c in facts(scene)[f"p{n}.says"] if c.isdigit())) for n in range(3)
        )  # fmt: skip
        assert int(asked(scene, "infer").answer) == have + more - less > 0
