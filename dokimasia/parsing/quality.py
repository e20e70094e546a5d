"""Ratings of a criterion's accuracy and necessity, from the tags that a rater wrote them in (ATOM, appendix C)."""

from dokimasia.domain.quality import HIGHEST, LOWEST, Quality
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.own import own
from dokimasia.parsing.reply import tried
from dokimasia.parsing.tags import nothing_beside, rating


def parse_quality(text: str) -> Quality:
    """Return a rater's two ratings of a criterion.

    The form is `<accuracy>...<score>3</score></accuracy>` and the same for `<necessity>`; nothing that could change them
    stands beside them.

    Raises:
        UnparsableReply: a rating is missing, stands more than once with different values, or is no whole number from 1 to
            3. The reason names all that is wrong.
    """
    reply = own(text)
    faults: list[str] = []
    accuracy = tried(faults, rating, reply, "accuracy", LOWEST, HIGHEST)
    necessity = tried(faults, rating, reply, "necessity", LOWEST, HIGHEST)
    if accuracy is None or necessity is None:
        raise UnparsableReply("; ".join(faults))
    nothing_beside(reply, "accuracy", "necessity")
    return Quality(accuracy=accuracy, necessity=necessity)
