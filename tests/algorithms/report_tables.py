"""Tables of made-up models, whose figures reports print."""

from random import Random

from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow, Figure, Mark

LEAVES = ("Counting", "Colour Naming", "Reading Dials", "Angle Sums", "Cause", "Position 3D", "Best Guess", "Tone")
MODELS = ("gpt-4.1", "Intern-VL-3", "Intern-VL-30", "weak", "strong")


def columns(name: str) -> tuple[AssetColumn, ...]:
    """The columns of a table of leaves."""
    return (
        AssetColumn(name=name, kind="name"),
        AssetColumn(name="score", unit="points of 100", kind="score", better="higher"),
        AssetColumn(name="against the rest", unit="points of 100", kind="difference", better="higher"),
        AssetColumn(name="adjusted p", kind="p_value"),
        AssetColumn(name="verdict", kind="mark"),
    )


def leaf_row(leaf: str, score: float, gap: float, half: float, mark: Mark, model: str) -> AssetRow:
    """A leaf of a model with its score, its difference from the rest, and half the width of their intervals."""
    return AssetRow(
        key=f"<Perception><Things><{leaf}>",
        cells=(
            Figure(value=leaf),
            Figure(value=score, low=max(0.0, score - half), high=min(100.0, score + half)),
            Figure(value=gap, low=gap - half, high=gap + half),
            Figure(value=0.004 if mark in ("weak", "strong") else 0.4),
            Figure(value=mark),
        ),
        n=40,
        held=42,
        mark=mark,
        model=model,
        node=f"<Perception><Things><{leaf}>",
    )


def random_tables(seed: int) -> list[Asset]:
    """Tables of several models, with marks where the difference is large."""
    rng = Random(seed)
    tables: list[Asset] = []
    means = {model: rng.uniform(40, 80) for model in MODELS}
    for model in MODELS:
        rows: list[AssetRow] = []
        for leaf in LEAVES:
            gap = rng.uniform(-35, 35)
            score = min(99.0, max(1.0, means[model] + gap))
            mark: Mark = "weak" if gap < -15 else "strong" if gap > 15 else "unclear"
            rows.append(leaf_row(leaf, score, gap, rng.uniform(3, 9), mark, model))
        tables.append(
            Asset(
                id=f"leaves/{model}",
                title="leaves",
                sentence="All.",
                columns=columns("leaf"),
                rows=tuple(rows),
                model=model,
            )
        )
    pairs: list[AssetRow] = []
    for at, first in enumerate(MODELS):
        for second in MODELS[at + 1 :]:
            gap = rng.uniform(-1, 1)
            mark = "unclear" if abs(gap) < 0.3 else "better" if gap > 0 else "worse"
            cells = (Figure(value=first), Figure(value=second), Figure(value=gap, low=gap - 0.2, high=gap + 0.2))
            pairs.append(
                AssetRow(key=f"{first} {second}", cells=(*cells, Figure(value=mark)), n=60, held=60, mark=mark)
            )
    tables.append(
        Asset(
            id="pairs",
            title="pairs",
            sentence="Pairs.",
            columns=(
                AssetColumn(name="first", kind="name"),
                AssetColumn(name="second", kind="name"),
                AssetColumn(name="difference", unit="points, 1 to 5", kind="difference", better="higher"),
                AssetColumn(name="verdict", kind="mark"),
            ),
            rows=tuple(pairs),
            direction="second minus first",
        )
    )
    tables.append(
        Asset(
            id="models",
            title="models",
            sentence="Scores.",
            columns=(
                AssetColumn(name="model", kind="name"),
                AssetColumn(name="score", unit="points, 1 to 5", kind="score", better="higher"),
                AssetColumn(name="criteria score", unit="points of 100", kind="score", better="higher"),
            ),
            rows=tuple(
                AssetRow(
                    key=model,
                    cells=(
                        Figure(value=model),
                        Figure(value=1 + mean / 25, low=mean / 25, high=2 + mean / 25),
                        Figure(value=mean, low=mean - 5, high=mean + 5),
                    ),
                    n=60,
                    held=64,
                    model=model,
                )
                for model, mean in means.items()
            ),
            counts="samples",
        )
    )
    tables.append(
        Asset(
            id="reasons",
            title="reasons",
            sentence="Reasons.",
            columns=(
                AssetColumn(name="model", kind="name"),
                AssetColumn(name="of these, wrong reason", kind="share", better="lower"),
            ),
            rows=tuple(
                AssetRow(
                    key=model,
                    cells=(
                        Figure(value=model),
                        Figure(value=(share := rng.random()), low=share / 2, high=(1 + share) / 2),
                    ),
                    n=50,
                    held=50,
                    model=model,
                )
                for model in MODELS
            ),
        )
    )
    return tables
