"""The tables of a home, and the migrations that create them."""
