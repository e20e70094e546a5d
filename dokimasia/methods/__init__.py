"""Methods: a folder each, with what it is asked, what it accepts, its work, its figures and how they are drawn."""
