"""The planted capabilities: the true leaves of the tree, one for each step of each planted question."""

COUNTING = "<Perception><Enumeration><Object Counting>"
COUNTING_SELECTED = "<Perception><Enumeration><Selective Counting>"
OBJECT = "<Perception><Object Perception><Object Recognition>"
COLOUR = "<Perception><Attribute Perception><Colour Recognition>"
SHAPE = "<Perception><Attribute Perception><Shape Recognition>"
STATE = "<Perception><Attribute Perception><State Recognition>"
TEXT = "<Perception><Character Perception><Text Reading>"
NUMBER = "<Perception><Character Perception><Number Reading>"
GAUGE = "<Perception><Measurement Perception><Scale Reading>"

POSITION = "<Understanding><Spatial Understanding><Relative Position>"
ORDINAL = "<Understanding><Spatial Understanding><Ordinal Place>"
FIELD = "<Understanding><Structure Understanding><Field Linking>"
LEGEND = "<Understanding><Structure Understanding><Legend Mapping>"
GENRE = "<Understanding><Purpose Understanding><Genre Identification>"
TOPIC = "<Understanding><Purpose Understanding><Topic Identification>"
SPEAKER = "<Understanding><Narrative Understanding><Speaker Attribution>"

ADDITION = "<Reasoning><Numerical Reasoning><Addition>"
DIFFERENCE = "<Reasoning><Numerical Reasoning><Subtraction>"
PRODUCT = "<Reasoning><Numerical Reasoning><Multiplication>"
LIMIT = "<Reasoning><Comparative Reasoning><Threshold Comparison>"
EXTREME = "<Reasoning><Comparative Reasoning><Extreme Selection>"
MAGNITUDE = "<Reasoning><Comparative Reasoning><Magnitude Comparison>"
RULE = "<Reasoning><Logical Reasoning><Rule Induction>"
CONTINUATION = "<Reasoning><Logical Reasoning><Pattern Continuation>"
DEDUCTION = "<Reasoning><Logical Reasoning><Constraint Deduction>"

SCIENCE = "<Knowledge><Scientific Knowledge><Physical Law>"
GEOMETRY = "<Knowledge><Scientific Knowledge><Geometric Theorem>"
CONVENTION = "<Knowledge><Everyday Knowledge><Practical Convention>"
CULTURE = "<Knowledge><Cultural Knowledge><Symbol Meaning>"

ABSENCE = "<Trustworthiness><Groundedness><Absence Recognition>"
FORM = "<Generation><Answer Composition><Complete Answer>"

DESCRIPTIONS: dict[str, str] = {
    COUNTING: "Counts all things of a sort that the picture shows.",
    COUNTING_SELECTED: "Counts only the things that meet a stated condition.",
    OBJECT: "Names what a thing in the picture is.",
    COLOUR: "Names the colour of a thing.",
    SHAPE: "Names the geometric shape of a thing.",
    STATE: "Sees the state that a thing is in: on or off, chosen or not, shining or clouded.",
    TEXT: "Reads printed words letter by letter.",
    NUMBER: "Reads printed numbers digit by digit.",
    GAUGE: "Reads a value off a scale, an axis or a level.",
    POSITION: "Says where a thing lies in relation to another.",
    ORDINAL: "Says at which place of a row or column a thing stands.",
    FIELD: "Links a value to the label, row or column that it belongs to.",
    LEGEND: "Links a mark of a chart or diagram to what it stands for.",
    GENRE: "Says what sort of picture, document or diagram is shown.",
    TOPIC: "Says what a document, chart or window is about.",
    SPEAKER: "Says who in a story says or does something.",
    ADDITION: "Adds values that were found in the picture.",
    DIFFERENCE: "Subtracts values that were found in the picture.",
    PRODUCT: "Multiplies or divides values that were found in the picture.",
    LIMIT: "Says on which side of a limit a value lies.",
    EXTREME: "Chooses the greatest or the least of several things.",
    MAGNITUDE: "Says which of a pair is the greater.",
    RULE: "States the rule that a pattern follows.",
    CONTINUATION: "Says what comes next, or what fills the gap, in a pattern.",
    DEDUCTION: "Derives what must hold from several conditions.",
    SCIENCE: "Applies a law of physics.",
    GEOMETRY: "Applies a theorem of geometry.",
    CONVENTION: "Knows what people commonly do or mean by everyday things.",
    CULTURE: "Knows the names and meanings of cultural symbols.",
    ABSENCE: "Says that something is not in the picture where it is not.",
    FORM: "Puts the whole answer into the form that was asked for.",
}
"""Description of each leaf, by path `<Category><Parent><Leaf>`."""

CAPABILITIES: tuple[str, ...] = tuple(DESCRIPTIONS)
"""Paths of all planted leaves, grouped by category."""
