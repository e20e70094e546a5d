"""Remarks: talk about candidates, descriptions, rankings and itself is found in a description, and the image's words are not."""

import pytest

from dokimasia.parsing.remarks import remarks

TALK = (
    "Candidate 1 is already the best description. The photo shows two people.",
    "This rewrite keeps what is right in candidate 2 and adds the plant.",
    "Same as candidate 3.",
    "The photo shows a dog. (Taken from candidates 1 and 3.)",
    "Here is a better description: The photo shows a cat.",
    "Here's the corrected version: A cat sits.",
    "Improved description:\nThe photo shows a cat.",
    "**Rewrite:** A cat sits on a rug.",
    "I have merged the three texts. A cat sits on a rug.",
    "A cat sits on a rug. I kept the wording of the first description.",
    "All candidates agree that the cat is orange.",
    "No changes are needed. A cat sits.",
    "The best candidate stays as it is.",
    "A cat sits. This description is complete and accurate.",
    "A cat sits. Would you like me to describe anything else?",
    "A cat sits. Let me know if you need more detail!",
    "Ranked first: a cat sits on a rug.",
    "Description 2 is right: a cat sits on a rug.",
    "A cat sits on a rug, as the other descriptions say.",
    "Candidate #2 says that there are four tomatoes, but there are five.",
    "My ranking is 2, 1, 3. A cat sits.",
    "Unlike the previous candidate, the cat sits on the left.",
    "None of the candidates mentions the clock on the wall.",
    "The first candidate is right about the window.",
    "The description is already accurate.",
    "The cat is orange (both descriptions say so).",
    "Neither reviewer saw the small spoon.",
    "Keep it as is.",
    "As candidate 1 already says, one person is sitting.",
    "Revised caption: Two people stand in a kitchen.",
    "The combined description follows. A cat sits.",
    "I would keep candidate 2.",
    "I corrected the number of tomatoes to five. Five tomatoes lie there.",
    "The original candidate was wrong about the window; it is on the left.",
    "This is the best description of the three.",
    "Candidate one is the most faithful, so I repeat it. The photo shows two people.",
    "The photo shows two people. (Based on candidate 2, with the window moved to the left.)",
    "Note: candidates 1 and 2 are identical.",
    "The rewritten description: A dog sleeps.",
    "A dog sleeps. This version adds the red ball.",
    "I think candidate three is best.",
    "A dog sleeps. As in the first candidate, a red ball lies there.",
    "My description: A dog sleeps.",
    "A dog sleeps. The candidates disagree about the ball; it is red.",
    "The ranking is 1, 2, 3. A dog sleeps.",
    "A dog sleeps. Compared with the other candidates this one is more complete.",
    "Candidate 2's text is kept: a dog sleeps.",
    "A dog sleeps. I left out the claim about the ball.",
    "In this rewrite the errors of the second description are mended.",
    "A dog sleeps. That is the better description.",
    "Below is my improved description of the image. A dog sleeps.",
    "There is nothing to add to candidate 1.",
    "A dog sleeps. The description above is faithful to the image.",
    "The best of the descriptions is the second.",
    "A dog sleeps. The other two descriptions put the ball on the left, which is wrong.",
    "(unchanged from candidate 3)",
    "A dog sleeps. I hope this helps!",
    "I've combined both descriptions. A dog sleeps.",
)

IMAGE = (
    "The photo shows two people in a bright living room.",
    'A poster reads "Vote for candidate 1".',
    'The page has the heading "Description" and below it three lines of text.',
    "Below the price stands a short description of the product in grey letters.",
    'A speech bubble says "I added the salt, let me know if it tastes good".',
    'At the top a caption in white capitals reads "WHEN YOU SEE IT".',
    "The best player is already on the podium.",
    "The left tower is ranked by nobody; it is half hidden.",
    "The table has four columns: rank, team, points and goals.",
    "Going over the picture, from the top down, in order, I can tell this of it.",
    "With care, corner by corner, as plainly as I can, here is what can be made out.",
    "At a first look and a second, part by part, slowly, this is what it shows.",
    "The puzzle is already complete but for two pieces.",
    "Two captions stand under the drawing.",
    "The label beside the painting holds a longer description in two languages.",
    "The second line of the description is set in italics.",
    "Version 2.0 stands in the corner of the window.",
    "The man keeps his hands in his pockets.",
    "A button labelled 'Keep as is' is at the right.",
    "Here is the old harbour, seen from above, with boats.",
    "Both cups are white; the first is full, the second empty.",
    "No changes of colour can be seen along the wall.",
    "The bar for 2012 is the highest, and the bar for 1996 the lowest.",
    "The original painting hangs in a gold frame.",
    "An arrow points from the description to the drawing.",
    'The text ends with "This rewrite was made in 1998".',
    "The other side of the street lies in shade.",
    "A woman ranks cards on a green table.",
    'It is 12" wide and 8" high; a ruler lies beside it.',
    "A chart ranks five countries; the first bar is the longest.",
    "The first paragraph of the description in the brochure begins with a large initial.",
    "In the final version of the logo on the right the letters are blue.",
    "A banner says: 'Rewrite the rules'.",
    "The form has fields for name, description and date.",
    "Another text, in smaller letters, runs along the bottom.",
    "He keeps it as a souvenir; a key lies on the table.",
    "The card names three versions of the game.",
    "I II III IV are the numerals on the dial.",
    "If you look closely, a small spider sits on the leaf.",
    "The best man wears a grey suit.",
)


@pytest.mark.parametrize("text", TALK)
def test_talk_is_found(text: str) -> None:
    """What a rewrite says of candidates, descriptions, rankings or itself is found and quoted."""
    assert remarks(text)


@pytest.mark.parametrize("text", IMAGE)
def test_what_the_image_shows_is_none(text: str) -> None:
    """Texts in quotation marks, captions, versions, ranks and descriptions that stand in an image are no remarks."""
    assert remarks(text) == []


def test_candidates_in_the_image() -> None:
    """What a shown description speaks of, too, is a thing in the image: candidates of an election, but not the text itself."""
    shown = [
        "Three candidates stand behind lecterns.",
        "Four people are on a stage, with a ranking of parties behind them.",
    ]
    assert remarks("The second candidate raises a hand. The ranking behind them has three rows.", shown) == []
    assert remarks("This description shows three candidates.", shown) == ["This description shows three candidates."]
    assert remarks("The second candidate raises a hand.", shown[1:])


def test_a_letter_that_two_copied() -> None:
    """Words to a reader are the image's where two of the shown descriptions have them alike, and not where one has."""
    letter = "Dear Ann, I have added the form. Let me know if it suits."
    assert remarks(letter, [letter, letter]) == []
    assert remarks(letter, [letter]) == ["I have added the form. Let me know if i…", "Let me know if it suits."]


def test_the_beginning_of_each_remark_is_quoted() -> None:
    """A remark is quoted once, from where it begins, on one line."""
    assert remarks("A dog.\nThis rewrite\nkeeps candidate 1.") == ["rewrite keeps candidate 1.", "candidate 1."]


def test_long_texts_are_read_in_no_time() -> None:
    """Half a million quotation marks or beginnings of a remark take no quadratic time."""
    for text in ('"' * 500_000, "the best " * 200_000, "I have " * 200_000, "candidate " * 100_000):
        remarks(text)
