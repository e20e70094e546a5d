"""Whether the parsers of models' replies keep their word on any text: a value that stands in it, or UnparsableReply."""
