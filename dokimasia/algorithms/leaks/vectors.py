"""Sentences that say what a secret says, by embeddings of both."""

from collections.abc import Iterator, Mapping, Sequence

from dokimasia.algorithms.text.similarity import sentences

NEAR = 0.88
"""Cosine from which two sentences say the same."""


def repeated(
    text: str, secrets: Sequence[str], question: str, vectors: Mapping[str, Sequence[float]]
) -> Iterator[tuple[str, str]]:
    """Yield the sentences of a text that say what a secret says, with the secret.

    Those are within a cosine of 0.88 of it, and nearer to it than to the question. What has no vector is passed over.
    """
    for sentence in sentences(text) or [text]:
        for secret in secrets:
            if sentence in vectors and secret in vectors:
                near = _cosine(vectors[sentence], vectors[secret])
                asked = _cosine(vectors[sentence], vectors[question]) if question in vectors else -1.0
                if near >= NEAR and near > asked:
                    yield sentence, secret


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    across = sum(a * b for a, b in zip(one, other, strict=True))
    lengths = sum(a * a for a in one) ** 0.5 * sum(b * b for b in other) ** 0.5
    return across / lengths if lengths else 0.0
