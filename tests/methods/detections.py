"""Detections of judges with planted rates, drawn without any judge: what figures of a probe are made from."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dokimasia.domain.blindspots import NEUTRAL, Detection, Evaluator, Task, by_axes, paradigm_of
from dokimasia.prompts.dimensions import error_dimensions


def drawn(
    judge: str = "sim/judge",
    *,
    missed: Mapping[str, float] | float = 0.3,
    evaluators: Sequence[Evaluator] = ("single-vanilla", "pairwise-vanilla", "reference"),
    task: Task = "image-to-text",
    dimensions: Sequence[str] | None = None,
    images: int = 12,
    equal: float = 0.7,
    first_place: float = 0.0,
    fails: float = 0.03,
    reads: bool = False,
    seed: int = 0,
    **asked: object,
) -> Iterator[Detection]:
    """Yield what a judge makes of errors that it misses at given rates, of a harmless change an image, and of a retest.

    Args:
        missed: by dimension, or of all alike.
        first_place: how often it takes the first place of a pair without looking.
        reads: whether a reader looks at justifications, of which it understands four in five and misreads one in ten.
        asked: further fields, such as budget.
    """
    generator = np.random.default_rng(seed)
    known = error_dimensions(task)
    names = [name for name in dimensions or known if name != NEUTRAL]
    for evaluator in evaluators:
        for image in range(images):
            for name in [*names, NEUTRAL]:
                rate = missed if isinstance(missed, float | int) else missed.get(name, 0.3)
                yield _judged(generator, evaluator, rate, equal, first_place, fails, reads, {
                    "judge": judge, "task": task, "evaluator": evaluator, "cluster": f"image-{image}",
                    "case": "neutral" if name == NEUTRAL else "error", "dimension": name,
                    "group": known[name].group, "item": f"{image}-{name}", **asked,
                })  # fmt: skip
            yield Detection(
                judge=judge, task=task, evaluator=evaluator, cluster=f"image-{image}", case="retest", dimension=NEUTRAL,
                group="", item=f"{image}-gold", equal=float(generator.random() < 0.9), named=0.0 if reads else None, **asked,
            )  # fmt: skip


def _judged(
    generator: np.random.Generator,
    evaluator: Evaluator,
    rate: float,
    equal: float,
    first_place: float,
    fails: float,
    reads: bool,
    fields: dict[str, object],
) -> Detection:
    if generator.random() < fails:
        return Detection(**fields, failure="unparsable")
    error = fields["case"] == "error"
    if paradigm_of(evaluator) == "pairwise":
        fair = int(generator.random() >= rate) if error else int(generator.random() >= equal)
        orders = tuple((1 if place == 0 else -1) if generator.random() < first_place else fair for place in (0, 1))
        undetected = sum(one != 1 for one in orders) / 2
        return Detection(
            **fields,
            orders=orders,
            overall=undetected if error and by_axes(evaluator) else None,
            undetected=undetected if error else None,
            strict=float(undetected > 0) if error else None,
            equal=None if error else sum(one == 0 for one in orders) / 2,
            worse=sum(one == -1 for one in orders) / 2,
            named=_named(generator, error) if reads else None,
        )
    missed = generator.random() < rate
    raised = bool(generator.random() < 0.05)
    return Detection(
        **fields,
        undetected=float(missed) if error else None,
        strict=float(missed or raised) if error else None,
        overall=float(missed) if error and by_axes(evaluator) else None,
        equal=None if error else float(generator.random() < equal),
        worse=float(raised and not missed),
        named=_named(generator, error) if reads else None,
    )


def _named(generator: np.random.Generator, error: bool) -> float:
    return float(generator.random() < (0.8 if error else 0.1))
