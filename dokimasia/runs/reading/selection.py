"""Which samples of a large run a person is shown: those with a failure first, then a seeded draw of the rest."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from dokimasia.domain.identity import unit_interval


class SampleSelection(NamedTuple):
    """The chosen samples: those with a failure, then others, each group in the order of the data."""

    failed: tuple[str, ...]
    others: tuple[str, ...]


def choose(ids: Sequence[str], failed: Collection[str], *, limit: int, seed: int) -> SampleSelection:
    """Return at most `limit` samples, failures first; where a group has more than fit, a seeded draw of it.

    A sample's draw depends on the seed and its own name only: a run that grows keeps most of its choice.

    Args:
        ids: the run's samples, in order.
        failed: those among them with a failure.
        limit: how many to choose, at least 0.
        seed: of the draw.
    """
    with_failure = [id for id in ids if id in failed]
    rest = [id for id in ids if id not in failed]
    first = _draw(with_failure, limit, seed)
    return SampleSelection(first, _draw(rest, limit - len(first), seed))


def _draw(ids: Sequence[str], limit: int, seed: int) -> tuple[str, ...]:
    kept = set(sorted(ids, key=lambda id: (unit_interval("report", seed, id), id))[:limit])
    return tuple(id for id in ids if id in kept)
