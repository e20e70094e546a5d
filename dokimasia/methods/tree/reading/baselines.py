"""The groupings that a grown tree is compared with, as far as they need no model: fixed lists, words, pictures, labels."""

from collections.abc import Mapping
from io import BytesIO

from dokimasia.algorithms.trees.groupings import group_by_words, text_clusters, vector_clusters
from dokimasia.methods.tree.reading.known_taxonomies import GENERALIST, HANDMADE
from dokimasia.methods.tree.reading.validity import CriteriaGrouping

SIDE = 8
"""A picture is compared by its colours on a grid of so many fields a side."""

HUES = 12


def baseline_groupings(
    texts: Mapping[str, str],
    sample_of: Mapping[str, str],
    *,
    leaves: int,
    seed: int,
    labels: Mapping[str, str] | None = None,
    pictures: Mapping[str, tuple[float, ...]] | None = None,
) -> list[CriteriaGrouping]:
    """Return the baselines of Table 3 for which there are data.

    A published baseline is a tree that its authors made for their own data; here stand the same kinds for any data. The
    two fixed lists place a criterion by the words that it shares with a group, where a judge would do better: that they
    are weak says little. A judge's own mapping to any fixed list can be compared as a file.

    Args:
        texts: criterion to its question and ground truth.
        sample_of: criterion to sample.
        leaves: how many groups the clusters have, as many as the tree has leaves.
        seed: of the clusters.
        labels: sample to the data set's own category, where it has any.
        pictures: sample to what `picture_features` returns, where it has an image.
    """
    found = [
        CriteriaGrouping("hand-made", "fixed list of vision tasks, placed by words", group_by_words(texts, HANDMADE)),
        CriteriaGrouping(
            "generalist", "fixed list of general abilities, placed by words", group_by_words(texts, GENERALIST)
        ),
    ]
    of_picture = vector_clusters(pictures or {}, max(1, leaves), seed=seed)
    if len(set(of_picture.values())) > 1:
        by_picture = {one: of_picture[sample] for one, sample in sample_of.items() if sample in of_picture}
        found.append(CriteriaGrouping("visual", "clusters of the images by colour and layout", by_picture))
    found.append(
        CriteriaGrouping(
            "data-blind", "clusters of the criteria's words alone", text_clusters(texts, max(1, leaves), seed=seed)
        )
    )
    by_label = {one: (labels or {})[sample] for one, sample in sample_of.items() if sample in (labels or {})}
    if by_label:
        found.append(CriteriaGrouping("labels", "the data set's own categories", by_label))
    return found


def picture_features(data: bytes) -> tuple[float, ...] | None:
    """Return what an image looks like from afar: mean colours on a grid, and how often each hue occurs.

    Args:
        data: an image file.

    Returns:
        8 x 8 x 3 colours and 12 shares of hues, each 0 to 1; None where the image cannot be read.
    """
    from PIL import Image

    try:
        with Image.open(BytesIO(data)) as opened:
            small = opened.convert("RGB").resize((SIDE * 4, SIDE * 4), Image.Resampling.BOX)
    except (OSError, ValueError, Image.DecompressionBombError):
        return None
    grid = small.resize((SIDE, SIDE), Image.Resampling.BOX).tobytes()
    hsv = small.convert("HSV").tobytes()
    hues = [0.0] * HUES
    for at in range(0, len(hsv), 3):
        hues[hsv[at] * HUES // 256] += hsv[at + 1] / 255
    pixels = len(hsv) / 3
    return (*(value / 255 for value in grid), *(one / pixels for one in hues))
