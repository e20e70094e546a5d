"""What a text says outright of what it must not tell: the certain rules of the leak check."""
