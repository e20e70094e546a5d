"""Whether the intervals, tests and sample sizes that the program prints keep their word, on judgements whose truth is planted."""
