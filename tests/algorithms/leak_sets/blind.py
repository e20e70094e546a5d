"""Half of the cases that judge the leak filter, written by hand before the filter existed and without sight of it.

The author had seen neither the filter nor the other half of the cases, nor chose a case by what a filter would do with
it. Five of the ten forms are here, 30 to 47 cases each: another normal form (case, punctuation, plural, decoration, another
way to write the number), elimination of all other choices, near paraphrase of a ground truth, a word spelled out or
reversed or read off initials, and arithmetic that has the answer as its result. Beside them stand 250 clean hints, honest
guidance that shares words with the question, with g or with the final answer and gives none of them away *in this
question*: the article "a" where choice A is right, "left" where the question names left and right alike, "one" as a
pronoun where the answer is 1, "you may" where the answer is May. Nothing here is tuned afterwards: a change would make
the set worthless as a blind one.
"""

from dataclasses import dataclass, field

from tests.algorithms.leak_sets.case import Case

NORMAL_FORM = "normal form"
ELIMINATION = "elimination"
PARAPHRASE = "near paraphrase"
SPELLED = "spelled out"
ARITHMETIC = "arithmetic"
FORMS = (NORMAL_FORM, ELIMINATION, PARAPHRASE, SPELLED, ARITHMETIC)


@dataclass(frozen=True)
class _Item:
    """A question with the hints that were written for it."""

    question: str
    truths: tuple[str, ...]
    answer: str
    choices: tuple[str, ...] = ()
    clean: tuple[str, ...] = ()
    leaks: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


_ITEMS = (
    _Item(
        "How many of the four panels show a bicycle?",
        ("4", "All panels of the figure have a bicycle in them."),
        "4",
        clean=(
            "Go through the four panels one after another and look for wheels.",
            "Of the four panels, the ones with a crowd deserve a slower look: a bicycle can hide behind people.",
            "Do not stop at the first panel; a bicycle may be cut off by a frame.",
            "Keep a tally while you scan the panels, and only then state your number.",
            "A bicycle lying on the ground still counts as a bicycle.",
        ),
        leaks={
            ARITHMETIC: (
                "The number you want is two more than two.",
                "Take eight and halve it: so many panels have a bicycle.",
                "Your total should equal 9 minus 5.",
            ),
            PARAPHRASE: (
                "You will find that all of the figure's panels have a bicycle in them.",
                "A bicycle is in all panels of that figure.",
            ),
        },
    ),
    _Item(
        "What colour is the kettle on the stove?",
        ("red", "The kettle's body is red."),
        "red",
        clean=(
            "Look at the body of the kettle and not at its handle.",
            "The stove's light tints things; compare the kettle with something white nearby.",
            "Find the stove first, then what stands on it, and name the colour of its largest part.",
            "Ignore the reflection of the window in the kettle.",
            "There are several pots: the kettle is the one with a spout.",
            "You wrote about the pan; the question asks about the kettle on the stove.",
        ),
        leaks={
            NORMAL_FORM: (
                "Look again: RED!",
                "The kettle has a *Red* body, as you can see under the lamp.",
                "Of all the reds in this kitchen, the kettle's is the strongest.",
            ),
            SPELLED: (
                "The colour is spelled R-E-D.",
                "Read 'der' backwards and you have the colour.",
                "First letter r, then e, then d: write that down.",
            ),
        },
    ),
    _Item(
        "Is the lamp on the left or on the right of the sofa?",
        ("left", "The lamp stands at the left end of the sofa."),
        "left",
        clean=(
            "Decide between left and right from the viewer's side, not from that of someone who sits on the sofa.",
            "Find both ends of the sofa, the left one and the right one, and see which is next to the lamp.",
            "Imagine a vertical line through the sofa's middle and ask on which side of it the lamp is.",
            "Look at the left side as well as the right side before you decide.",
            "Do not let the lamp's shadow guide you; find its foot.",
            "The mirror swaps left and right, so judge by the real lamp.",
        ),
        leaks={
            NORMAL_FORM: ("The lamp? LEFT.", "Say that it is to the Left, and nothing more."),
            ELIMINATION: ("It is certainly not on the right of the sofa.", "You can exclude right straight away."),
            SPELLED: ("L, E, F, T is what you should answer.", "Reverse the letters of 'tfel' to get the side."),
        },
    ),
    _Item(
        "Which fruit lies in the bowl? A. a pear B. an apple C. a plum D. a fig",
        ("a pear", "The fruit narrows towards its stalk."),
        "A",
        choices=("a pear", "an apple", "a plum", "a fig"),
        clean=(
            "Take a careful look at the outline of the fruit.",
            "A fruit's shape near the stalk tells more than its colour does.",
            "Compare the fruit with each choice in turn: pear, apple, plum and fig.",
            "A plum and an apple are both round, so ask how round this thing is.",
            "Is there a stalk? Follow it down to see how the fruit begins.",
            "Give a letter as your answer, after you have compared the shapes.",
        ),
        leaks={
            ELIMINATION: (
                "It is neither an apple nor a plum, and a fig it is not either.",
                "B, C and D can all be struck out.",
                "Apple? No. Plum? No. Fig? No. What remains is your answer.",
            ),
            NORMAL_FORM: ("The bowl holds: PEAR.", "Think of pears, for that is what you are looking at."),
            SPELLED: ("The name of the fruit reads R-A-E-P from the end to the start.",),
            PARAPHRASE: (
                "Towards its stalk this fruit becomes narrow.",
                "See how the fruit is narrowing towards the stalk.",
            ),
        },
    ),
    _Item(
        "How many people are waiting at the bus stop?",
        ("1", "A woman with an umbrella is waiting on her own."),
        "1",
        clean=(
            "Check each one you see: is that person waiting or merely walking past?",
            "No one inside the bus counts as waiting at the stop.",
            "One way to avoid mistakes is to mark each person that stands under the roof.",
            "Distinguish people from their reflections in the glass.",
            "Posters at bus stops often show people; do not take one of those for a passenger.",
            "Someone may stand behind the umbrella, so look beneath it.",
        ),
        leaks={
            ARITHMETIC: (
                "The number of people is what you get when you take six from seven.",
                "Subtract 2 from 3 and you know how many wait.",
                "Count them: it comes to 5 - 4.",
            ),
            PARAPHRASE: (
                "The woman with the umbrella is waiting there on her own.",
                "On her own, a woman is waiting with an umbrella.",
            ),
        },
    ),
    _Item(
        "In which month were sales highest?",
        ("May", "The bar of May is the tallest one."),
        "May",
        clean=(
            "You may want to compare the tops of the bars with the grid lines.",
            "It may help to read the month's label under the tallest bar with care.",
            "Labels of months are short; make sure that you read the one beneath the bar you mean.",
            "Two bars are nearly of the same height, so draw a level line between them in your mind.",
            "Sales are on the vertical axis; the months run along the bottom.",
            "Do not mix up the bars of sales with the line of costs.",
        ),
        leaks={
            NORMAL_FORM: ("Sales peaked in MAY.", "The month is 'may', plainly."),
            SPELLED: (
                "The label under the tallest bar has the letters M, A and Y.",
                "Take the initials of 'many are young': that is the month.",
            ),
        },
    ),
    _Item(
        "Is the traffic light showing red, amber or green?",
        ("green", "The lowest lamp is lit."),
        "green",
        choices=("red", "amber", "green"),
        clean=(
            "Look at which of the lamps is bright: red is on top, amber in the middle, green at the bottom.",
            "The three lamps red, amber and green have fixed places, which helps when colours are washed out.",
            "The sun shines on the housing, so ask which lamp glows by itself.",
            "Do not be guided by the cars: they could be standing at a green light.",
            "There is a second light for pedestrians; the question is about the traffic light over the road.",
        ),
        leaks={
            ELIMINATION: (
                "It is not red, and it is not amber.",
                "Neither amber nor red is lit.",
                "Rule out red; rule out amber too.",
            ),
            NORMAL_FORM: ("Yes, it is GREEN now.", "Greens like that are easy to see: say so."),
            PARAPHRASE: ("Notice that the lamp that is lit is the lowest.", "Of the lamps, the lowest one is lit."),
            SPELLED: ("G-r-e-e-n is the word.",),
        },
    ),
    _Item(
        "What is the total price on the receipt?",
        ("$12.50", "The last line of the receipt says $12.50."),
        "$12.50",
        clean=(
            "The total is not always the last amount printed; tax or change can follow it.",
            "Find the word that marks the total and read across to the amount.",
            "Check that the prices of the items add up to the total you read.",
            "The amount paid in cash is larger than the price, since change was given.",
            "Mind the decimal point: the print is faint.",
            "You gave the price of a single item; the receipt lists three.",
        ),
        leaks={
            NORMAL_FORM: (
                "It comes to 12.50 dollars.",
                "The line reads 12,50 $ in another way of writing.",
                "USD 12.5 is what was due.",
            ),
            ARITHMETIC: (
                "The total equals 10 + 2.50.",
                "Half of twenty-five dollars is what the receipt asks for.",
                "It is five times $2.50.",
            ),
        },
    ),
    _Item(
        "Which animal is asleep: the cat, the dog or the rabbit?",
        ("dog", "The dog's eyes are closed and it lies on its side."),
        "the dog",
        choices=("cat", "dog", "rabbit"),
        clean=(
            "Look at the eyes of the cat, of the dog and of the rabbit.",
            "An animal that lies down is not always asleep; the eyes tell.",
            "Zoom in on each animal's head, first the cat's, then the dog's, then the rabbit's.",
            "Which of the animals would not notice you if you came in?",
            "Posture is a clue, yet do not rely on it alone.",
            "The dog and the cat are close together, so make sure whose head you look at.",
        ),
        leaks={
            ELIMINATION: (
                "The cat is awake and so is the rabbit.",
                "You may discard the rabbit and the cat.",
                "Both cat and rabbit have their eyes open.",
            ),
            PARAPHRASE: (
                "It lies on its side, the dog, with its eyes closed.",
                "With closed eyes the dog is lying on its side.",
            ),
            SPELLED: ("Write god in reverse to name the sleeper.", "D, O, G."),
        },
    ),
    _Item(
        "What does the sign above the door say?",
        ("EXIT", "The sign reads EXIT in white letters."),
        "EXIT",
        clean=(
            "Read the sign above the door letter by letter.",
            "The letters of the sign are white; separate them from the glare.",
            "Do not guess from what a door usually has above it; read what is printed.",
            "There are two signs. The one in question is above the door, not beside it.",
            "It is a short word in capitals.",
        ),
        leaks={
            NORMAL_FORM: (
                "The sign says \u201cExit\u201d.",
                "It has e\u200bxit on it, in white.",
                "It marks one of the building's exits.",
            ),
            SPELLED: (
                "The letters are E, X, I and T, in that order.",
                "T-I-X-E, seen in a mirror.",
                "Initials of 'every xylophone is tuned' give the word.",
            ),
        },
    ),
    _Item(
        "How many apples remain if three of those on the table are eaten?",
        ("5", "There are eight apples on the table."),
        "5",
        clean=(
            "First count the apples on the table, then take away three.",
            "Three are eaten, so the count that you make comes before the subtraction.",
            "One apple is half hidden by the jug; include it.",
            "The apples in the basket on the floor are not on the table.",
            "You subtracted rightly, but your count of the apples was off.",
            "Pears are there as well, so look at the shape of each fruit.",
        ),
        leaks={
            ARITHMETIC: (
                "Compute 8 - 3.",
                "What remains is ten divided by two.",
                "Four and one make the number that you need.",
                "The number left is 3 + 2.",
            ),
        },
    ),
    _Item(
        "Which direction does the arrow on the road point? A. left B. right C. straight on",
        ("straight on", "The arrow has a single head that points away from the viewer."),
        "C",
        choices=("left", "right", "straight on"),
        clean=(
            "Follow the shaft of the arrow from the near end to its head.",
            "See whether the shaft bends to the left or to the right, or not at all.",
            "An arrow with more than a single head would allow several directions; count the heads.",
            "Think about left, right and straight on as the driver in this lane sees them.",
            "What is left of the paint is faint, so look at its edges.",
            "Make sure that you have the right lane before you read its arrow.",
        ),
        leaks={
            ELIMINATION: (
                "It points neither left nor right.",
                "Forget choices A and B.",
                "The arrow does not go right, and left is wrong as well.",
            ),
            NORMAL_FORM: ("The arrow says: Straight-On!", "go STRAIGHT ON"),
            PARAPHRASE: (
                "The arrow's single head points away from the viewer.",
                "A single head, pointing away from the viewer, is what the arrow has.",
            ),
        },
    ),
    _Item(
        "Who won the race according to the board?",
        ("Rose Miller", "Rose Miller is listed in first place."),
        "Rose Miller",
        clean=(
            "The board is sorted by time; find the shortest one.",
            "Names on the board are given as first name and family name; quote both.",
            "The flowers on the podium are no clue to the winner, neither lily nor tulip.",
            "Whoever is listed first need not have won if the board is sorted by number.",
            "Read the column of times before the column of names.",
        ),
        leaks={
            NORMAL_FORM: ("It was ROSE MILLER.", "The winner is Miller, Rose.", "rose-miller is on top of the list"),
            SPELLED: ("The first name is R, O, S, E and the family name is M, I, L, L, E, R.",),
        },
    ),
    _Item(
        "What percentage of the pie chart is coal?",
        ("25%", "The slice of coal takes a quarter of the circle."),
        "25%",
        clean=(
            "Compare the slice of coal with the whole circle.",
            "The percentages are not printed, so estimate the angle at the centre.",
            "Coal has the dark slice; gas has the striped one.",
            "All the slices together make 100 percent; use this as a check.",
            "The legend lists coal second, but the colours decide.",
            "See whether the slice's two edges meet at a familiar angle.",
        ),
        leaks={
            NORMAL_FORM: (
                "Coal is at 25 percent.",
                "It makes up 25.0 % of the pie.",
                "The share is 0.25 of the chart.",
            ),
            ARITHMETIC: (
                "Divide a hundred percent by four.",
                "Coal has half of 50 percent.",
                "Take 100 and subtract 75.",
            ),
            PARAPHRASE: (
                "A quarter of the circle is taken by the slice of coal.",
                "The coal slice takes up a quarter of the circle.",
            ),
        },
    ),
    _Item(
        "Is there a fire extinguisher in the corridor?",
        ("No", "No extinguisher is mounted anywhere along the corridor."),
        "No",
        choices=("Yes", "No"),
        clean=(
            "There is no need to read the notices; look along the walls.",
            "Say yes only if you can point at the extinguisher itself, and no if you cannot.",
            "A sign for a fire extinguisher is not yet a fire extinguisher.",
            "Check the corridor from the near end to the far end, on both sides.",
            "Red objects in a corridor can be other things: a hose, a bin, an alarm.",
            "No matter how dim the light is, a bracket on the wall would be seen.",
        ),
        leaks={
            ELIMINATION: ("'Yes' would be wrong.", "Anything but yes.", "You cannot answer with yes here."),
            PARAPHRASE: (
                "Nowhere along the corridor is an extinguisher mounted.",
                "There is not an extinguisher mounted anywhere along this corridor.",
            ),
        },
    ),
    _Item(
        "How tall is the tower in metres?",
        ("1250", "The plate gives a height of 1250 m."),
        "1250",
        clean=(
            "The plate at the foot of the tower gives its height; read every digit.",
            "Beware of the year on the plate: it is not a height.",
            "Metres are asked for, and the plate gives metres and feet.",
            "Two of the digits look alike in this print; compare them with each other.",
            "The height of the antenna is given apart from that of the tower.",
        ),
        leaks={
            NORMAL_FORM: ("The tower rises 1,250 metres.", "1 250 m is engraved there.", "Read 1250.0 from the plate."),
            ARITHMETIC: (
                "It is 1000 plus 250.",
                "A quarter of five thousand metres, no less.",
                "Multiply 125 by ten.",
            ),
        },
    ),
    _Item(
        "What is the man holding in his right hand?",
        ("a hammer", "He grips the hammer by its handle."),
        "hammer",
        clean=(
            "Be sure which hand is his right one: he faces you.",
            "Look at the man's right hand and at what sticks out above his fist.",
            "The tools on the bench are not in his hand.",
            "Does the tool have a handle? If so, what is at its end?",
            "His left hand holds something else, so do not confuse the hands.",
            "A nail in the board may tell you what sort of work he is doing.",
        ),
        leaks={
            NORMAL_FORM: ("In his hand: HAMMER.", "Hammers have a head like that one.", "It is the 'Hammer'."),
            PARAPHRASE: ("By its handle he grips the hammer.", "He is gripping a hammer by the handle."),
            SPELLED: ("Spell it: h a m m e r.", "r-e-m-m-a-h, turned round, is the tool."),
        },
    ),
    _Item(
        "Which team is ahead, the blue one or the white one?",
        ("white", "The scoreboard shows more points for the white team."),
        "white",
        choices=("blue", "white"),
        clean=(
            "Read the scoreboard for blue and for white, and compare the points.",
            "The white numbers on the board are the time, so look at the figures beneath the team names.",
            "Do not judge by the cheering of the blue fans or of the white fans.",
            "More points means ahead; find both numbers.",
            "Whether the white team or the blue team is at home is irrelevant here.",
        ),
        leaks={
            ELIMINATION: ("It is not blue.", "The blue team is behind, that is clear.", "Blue can be excluded."),
            PARAPHRASE: (
                "For the white team the scoreboard is showing more points.",
                "More points are shown on the scoreboard for the white team.",
            ),
            SPELLED: ("W-H-I-T-E has the lead.",),
        },
    ),
    _Item(
        "At what time does the shop close on Sundays?",
        ("4 pm", "The row for Sunday ends at 4 pm."),
        "4 pm",
        clean=(
            "Sunday has a row of its own at the foot of the table.",
            "The first time in a row is when the shop opens, the other is when it closes.",
            "You read the row of Saturday, which is just above that of Sunday.",
            "Public holidays are listed apart, so do not mix them up with Sundays.",
            "Give the time with am or pm.",
            "Times on this door are in the form of twelve hours, so mind pm and am.",
        ),
        leaks={
            NORMAL_FORM: ("It closes at 4 P.M.", "Closing time: 4PM", "The door is locked from 4:00 pm."),
            ARITHMETIC: (
                "Noon plus four hours is closing time.",
                "Take 6 pm and go back two hours.",
                "It closes at 2 + 2 in the afternoon.",
            ),
        },
    ),
    _Item(
        "What shape is the table?",
        ("oval", "The table's top is oval."),
        "oval",
        clean=(
            "The view from the side squeezes a circle, so think about the angle of the camera.",
            "Follow the edge of the table's top: does it have corners?",
            "The cloth hangs over the edge and hides part of the shape.",
            "Compare the length of the table with its width.",
            "Chairs stand around it; their places follow the shape of the top.",
        ),
        leaks={
            NORMAL_FORM: (
                "O.V.A.L is the shape.",
                "Such OVAL tops are common.",
                "Ovals have no corners, and neither has this.",
            ),
            SPELLED: (
                "The shape begins with o, goes on with v and a, and ends with l.",
                "lavo from right to left.",
                "Old Vans Are Loud: read the first letters.",
            ),
        },
    ),
    _Item(
        "How many windows does the house have on its upper floor?",
        ("3", "The upper floor has a row of windows under the eaves."),
        "three",
        clean=(
            "Count only the windows of the upper floor, not those at street level.",
            "The dormer in the roof does not belong to the upper floor.",
            "A closed shutter still hides a window.",
            "Work from the left corner of the house to the right corner.",
            "The door on the balcony has glass, but it is a door.",
            "Trees cover a part of the front; look between the branches.",
        ),
        leaks={
            ARITHMETIC: (
                "The number is one more than two.",
                "Half of six, to be exact.",
                "Nine divided by three gives the number of windows.",
                "5 minus 2 windows are up there.",
            ),
        },
    ),
    _Item(
        "Which metal is the statue made of? A. bronze B. iron C. lead D. marble",
        ("lead", "Its surface is dull grey and soft."),
        "C",
        choices=("bronze", "iron", "lead", "marble"),
        clean=(
            "The plaque can lead you to the answer, if you can read it.",
            "Think about how each choice ages: bronze, iron, lead and marble all weather in ways of their own.",
            "Look at the surface of the statue where it is damaged.",
            "One of the choices is no metal at all.",
            "Rust and verdigris would both be signs; see whether there is either.",
            "Steps lead up to the statue; a close view from there would show the surface.",
        ),
        leaks={
            ELIMINATION: (
                "No bronze, no iron, and surely no marble.",
                "A, B and D are all impossible.",
                "Strike bronze, strike iron, strike marble.",
            ),
            PARAPHRASE: ("It has a soft surface that is dull grey.", "Dull grey and soft is its surface."),
            SPELLED: ("The metal is L then E then A then D.",),
        },
    ),
    _Item(
        "What is the next number in the sequence on the board: 2, 4, 8, ?",
        ("16", "Each number is twice the one before it."),
        "16",
        clean=(
            "Compare 4 with 2 and 8 with 4: what happens from each to the next?",
            "Is the step between the numbers constant, or does it grow?",
            "The sequence starts 2, 4, 8; find the rule before you go on.",
            "Look for one rule that explains both steps on the board.",
            "You took the differences as equal, and they are not.",
            "Say the rule in words first, and check it on the numbers given.",
        ),
        leaks={
            ARITHMETIC: (
                "Just work out 8 + 8.",
                "It is eight times two.",
                "Four squared is what comes next.",
                "The answer is 20 less 4.",
            ),
            PARAPHRASE: (
                "Each of the numbers is twice the number before.",
                "Note that each one is twice the one that came before it.",
            ),
        },
    ),
    _Item(
        "Which button is disabled in the dialog?",
        ("Save", "The Save button is greyed out."),
        "Save",
        clean=(
            "A disabled button is usually shown in a fainter tone.",
            "Compare the labels of the buttons: which of them has less contrast?",
            "To save time, look at the bottom row of the dialog only.",
            "The button that has the focus ring is not disabled.",
            "Look at what the form still lacks; some button depends on it.",
        ),
        leaks={
            NORMAL_FORM: ("It is the 'SAVE' one.", "See how **save** is greyed out."),
            PARAPHRASE: (
                "The button that is greyed out is the Save button.",
                "Greyed out: the button Save.",
            ),
            SPELLED: ("Its label is E-V-A-S in reverse.", "Its label goes S, A, V, E."),
        },
    ),
    _Item(
        "Which season is shown: spring, summer, autumn or winter?",
        ("autumn", "Fallen leaves cover the path."),
        "autumn",
        choices=("spring", "summer", "autumn", "winter"),
        clean=(
            "Trees tell the season: look at their leaves.",
            "What do people wear? Coats are worn in winter and sometimes in spring and autumn.",
            "Look at the path and at what lies on it.",
            "Is the light low or high? Summer and winter differ in that.",
            "A single bare tree does not make a winter, nor does one flower make a spring.",
            "Go through spring, summer, autumn and winter and ask what each would look like here.",
        ),
        leaks={
            ELIMINATION: (
                "Neither spring nor summer nor winter fits.",
                "Cross out winter, spring and summer.",
                "It cannot be summer; it cannot be winter; it cannot be spring.",
            ),
            PARAPHRASE: (
                "The path is covered by fallen leaves.",
                "Leaves that have fallen cover the path.",
            ),
            SPELLED: ("The season's letters are A U T U M N.",),
        },
    ),
    _Item(
        "Which chart grows faster, A or B?",
        ("A", "The curve of chart A is steeper."),
        "A",
        choices=("A", "B"),
        clean=(
            "A steeper curve means faster growth, so compare A with B at the same place.",
            "Take a ruler to both curves.",
            "Check the scale of the axis of chart A and of chart B; they may differ.",
            "A high value is not a high growth.",
            "Read a point at the start and a point at the end of each chart.",
            "Is a difference visible near the end as well as near the beginning?",
        ),
        leaks={
            ELIMINATION: ("B is not the one.", "Leave B aside: it is slower.", "It isn't chart B."),
            PARAPHRASE: ("Chart A has the steeper curve.", "Steeper is the curve in chart A."),
        },
    ),
    _Item(
        "How many legs does the stool have?",
        ("3", "The legs meet under the middle of the seat."),
        "3",
        clean=(
            "One leg may be hidden behind another, so look at the feet on the floor.",
            "Count the feet that touch the floor.",
            "The stool casts a shadow; its legs show there as well.",
            "The chair beside the stool is not what is asked about.",
            "A bar between the legs is not a leg.",
        ),
        leaks={
            ARITHMETIC: ("It is what remains of 10 if you take 7 away.", "Twelve over four."),
        },
    ),
    _Item(
        "Where is the cup in relation to the book?",
        ("The cup stands behind the book.",),
        "behind the book",
        clean=(
            "Ask which of the two, cup or book, covers a part of the other.",
            "Depth is shown by what overlaps what; look at the edges of the book.",
            "See where the bottom of the cup meets the table, and where that of the book does.",
            "Leave the idea behind that larger things are nearer.",
            "Say where the cup is, not where the book is.",
            "Shadows on the table tell which object is nearer to the lamp.",
        ),
        leaks={
            NORMAL_FORM: ("Answer: Behind the book!", "it is BEHIND THE BOOK"),
            PARAPHRASE: ("Behind the book there stands the cup.", "The cup is standing behind the book."),
        },
    ),
    _Item(
        "Is the door open or closed?",
        ("closed", "No gap is seen between door and frame."),
        "closed",
        choices=("open", "closed"),
        clean=(
            "Look for a gap along the frame, whether the door is open or closed.",
            "An open door would show its edge; a closed one would not.",
            "Light on the floor can tell if a door is open or closed.",
            "Follow the line of the hinges.",
            "The window is open, but the question is about the door.",
        ),
        leaks={
            ELIMINATION: ("It is not open.", "Open is the wrong word.", "You can be sure that it isn't open."),
            PARAPHRASE: (
                "Between frame and door no gap is seen.",
                "No gap is to be seen between the door and its frame.",
            ),
        },
    ),
    _Item(
        "How much water is in the jug, in litres?",
        ("0.75", "The surface is at the third of the marks."),
        "0.75",
        clean=(
            "Read the mark that is level with the water's surface.",
            "The scale on the jug is in litres, with a mark at each part.",
            "Look at the surface from the side; the rim is not the level.",
            "The second scale on the back is in cups, which is not asked.",
            "Count the marks from the bottom, and find out what one mark is worth.",
            "Give a number in litres.",
        ),
        leaks={
            NORMAL_FORM: ("It holds .75 l.", "The level is at 3/4 of a litre.", "You should read 0,75 there."),
            ARITHMETIC: ("Half a litre plus a quarter of a litre.", "Take a litre less 0.25."),
        },
    ),
    _Item(
        "Which word is underlined in the note?",
        ("tomorrow", "The line is under the last word."),
        "tomorrow",
        clean=(
            "A line through a word is not a line under it.",
            "Find the line first, then the word that stands on it.",
            "Circled words are not underlined words.",
            "The note has two lines of text; look at each.",
            "Quote only the word, not the sentence.",
        ),
        leaks={
            NORMAL_FORM: ("The word is Tomorrow.", "It underlines TO-MORROW."),
            SPELLED: ("t.o.m.o.r.r.o.w", "worromot, read the other way."),
        },
    ),
    _Item(
        "Which of the bottles is empty: the first, the second or the third?",
        ("second", "The bottle in the middle has nothing in it."),
        "second",
        choices=("first", "second", "third"),
        clean=(
            "Take a second look at the level in each of the bottles.",
            "Look through the glass of the first, the second and the third bottle.",
            "First find the surface of the liquid in each bottle.",
            "A label can hide what is in a bottle; look below the label.",
            "Dark glass makes a third bottle seem full: look for the level.",
            "Clear liquids are hard to see, so look how the background bends.",
        ),
        leaks={
            ELIMINATION: (
                "Not the first and not the third.",
                "There is something in the first bottle and also in the third.",
                "Third and first are out.",
            ),
            PARAPHRASE: ("There is nothing in the bottle in the middle.", "The middle bottle has nothing in it."),
        },
    ),
    _Item(
        "What is the sum of the two dice?",
        ("9", "The dice show their pips on the upper faces."),
        "9",
        clean=(
            "Read the upper face of each of the two dice and add.",
            "The sides of the dice show pips too; they do not count.",
            "Check the sum by counting all pips on the upper faces one by one.",
            "Your reading of the white die is right; look at the other again.",
            "A pip can be hidden by glare.",
            "The two dice differ in size, which changes nothing in the sum.",
        ),
        leaks={
            ARITHMETIC: ("Add 4 and 5.", "Six plus three is the sum of the pips.", "Ten minus one."),
        },
    ),
    _Item(
        "What material is the bench made of?",
        ("stone",),
        "stone",
        clean=(
            "Look at the texture of the bench: are there grains, joints or rivets?",
            "Leave no stone unturned and look at the feet of the bench as well.",
            "How a bench is put together tells what it is made of.",
            "Is there paint on it, and does it peel?",
            "Moss grows on some materials better than on others.",
        ),
        leaks={
            NORMAL_FORM: ("It is a STONE bench.",),
            SPELLED: ("Say 's-t-o-n-e'.", "The letters, in order: S T O N E.", "Read enots backwards."),
        },
    ),
    _Item(
        "How many minutes does the kitchen timer show?",
        ("12", "The pointer stands at the mark that is marked by a dot."),
        "12",
        clean=(
            "Find the pointer and the mark it stands at.",
            "The scale counts in steps; see what a step between the marks is worth.",
            "The timer runs backwards, so do not read what has passed.",
            "Which end of the pointer is the tip?",
            "Minutes are asked, not seconds.",
            "There are two rings of numbers; the outer ring is for minutes.",
        ),
        leaks={
            ARITHMETIC: ("Six times two minutes.",),
        },
    ),
    _Item(
        "Which floor is the lift on?",
        ("7",),
        "7",
        clean=(
            "Read the display above the lift's door.",
            "The buttons inside the lift show where people want to go, not where the lift is.",
            "A digit on such a display is built of bars; see which bars are lit.",
            "An arrow beside the number shows the direction, nothing else.",
            "Do not confuse the lift's display with the number of the room.",
            "Wait for the display to stop changing: each floor is shown for a moment only.",
            "Is it a 1 or something with a bar on top? Look at the strokes.",
        ),
        leaks={},
    ),
    _Item(
        "Which hand is the clerk using to sign, the left or the right?",
        ("right", "The pen is in the clerk's right hand."),
        "right",
        choices=("left", "right"),
        clean=(
            "All right so far, but check the hand again: left and right are swapped for someone who faces you.",
            "See which thumb is on the pen.",
            "Think of yourself in the clerk's place and then say left or right.",
            "You started with the right idea, to look for the pen.",
            "What is left to do is to find the hand that holds the pen.",
            "Look at the pen and then follow the arm up to the shoulder.",
        ),
        leaks={},
    ),
    _Item(
        "What is the gauge's reading in bar?",
        ("6", "The needle points to the mark after the red zone."),
        "6",
        clean=(
            "The gauge has two scales; the outer one is in bar.",
            "See where the needle points, and not where the red zone starts.",
            "Look at the needle straight on, since a slanted view shifts it.",
            "Count the marks from the last printed number.",
            "The second needle is a marker of the maximum.",
            "Between two printed numbers there are smaller marks; work out what they stand for.",
        ),
        leaks={},
    ),
    _Item(
        "Is the statement 'all cups are full' true or false for this picture?",
        ("false", "The cup at the back is half empty."),
        "false",
        choices=("true", "false"),
        clean=(
            "The statement is true only if it holds for every cup; one exception makes it false.",
            "Look into all cups, also into those at the back.",
            "A saucer hides the rim of a cup; look at the level anyway.",
            "Decide true or false after you have looked at each cup.",
            "Beware of a false impression: foam is not coffee.",
            "It is true that most cups look alike, so be patient.",
            "What would make the statement false? Search for exactly that.",
        ),
        leaks={},
    ),
    _Item(
        "Which country's flag is on the ship?",
        ("France",),
        "France",
        clean=(
            "Note whether the stripes run upright or across.",
            "Name the colours in order, beginning at the pole.",
            "Several countries share these colours; the order decides.",
            "The name of the ship is no proof of its country.",
            "A flag in the wind may be seen from behind.",
            "The port in the background may lie in another country than the ship comes from.",
            "Do not name the language of the ship's name; the flag is asked for.",
        ),
        leaks={},
    ),
    _Item(
        "How many cats are there in the picture?",
        ("2", "One cat is on the chair and the other under it."),
        "2",
        clean=(
            "Take a second look at the space beneath the furniture.",
            "Look for tails and ears as well as for whole cats.",
            "A toy is not a cat; check if it has a seam.",
            "One cat is easily overlooked because it is dark.",
            "Search the picture from left to right and from top to bottom.",
            "Two of the cushions have faces printed on them, and they are not cats.",
        ),
        leaks={},
    ),
    _Item(
        "What is the speed limit on the sign?",
        ("50", "The number inside the ring is 50."),
        "50",
        clean=(
            "Look at the number inside the ring and not at the plate below.",
            "The distance on the plate below is not a speed.",
            "Both digits are partly covered by a sticker; use the visible strokes.",
            "Speed limits have a ring around the number.",
            "You read the sign for lorries; there is another for all vehicles.",
            "Some countries write limits in miles, so see in which country the road is.",
        ),
        leaks={},
    ),
    _Item(
        "Which player has the ball, number 7, number 10 or number 11?",
        ("number 10",),
        "10",
        choices=("number 7", "number 10", "number 11"),
        clean=(
            "Find the ball, then the nearest foot, then the shirt.",
            "Read the shirts of 7, 10 and 11 and compare where each player looks.",
            "Players 10 and 11 overlap, so follow the legs.",
            "Number 7 is the farthest to the left, number 11 to the right and 10 between them.",
            "The shadow of the ball shows how high it is.",
            "The referee wears a number as well, and is not a player.",
            "A number seen from behind is larger than one on the chest; use those that you can read.",
        ),
        leaks={},
    ),
)


def _flatten() -> tuple[Case, ...]:
    """All cases in the order in which they are written."""
    cases: list[Case] = []
    for item in _ITEMS:
        hints: list[tuple[str, str | None]] = [(hint, None) for hint in item.clean]
        hints += [(hint, form) for form, written in item.leaks.items() for hint in written]
        cases += [Case(item.question, item.choices, item.truths, item.answer, hint, form) for hint, form in hints]
    return tuple(cases)


CASES = _flatten()
LEAKS = tuple(case for case in CASES if case.leaks)
CLEAN = tuple(case for case in CASES if not case.leaks)
