"""What is kept in memory is bounded by bytes, and what was used longest ago goes first."""

from dokimasia.storage.content.recent import Recent


def test_what_was_used_longest_ago_goes_first() -> None:
    """Beyond the bound the one that was neither put nor asked for longest is forgotten."""
    recent: Recent[str, bytes] = Recent(30)
    for name in "abc":
        recent.put(name, name.encode() * 10, 10)
    assert recent.get("a") == b"a" * 10
    recent.put("d", b"d" * 10, 10)
    assert [recent.get(name) is not None for name in "abcd"] == [True, False, True, True]


def test_a_value_takes_the_place_of_the_one_before_it() -> None:
    """The same key counts once, by what it has now; what is larger than all there is room for is not kept."""
    recent: Recent[str, bytes] = Recent(30)
    for size in (25, 5):
        recent.put("a", b"x" * size, size)
    recent.put("b", b"y" * 25, 25)
    assert (recent.get("a"), recent.get("b")) == (b"x" * 5, b"y" * 25)
    recent.put("b", b"z" * 31, 31)
    assert (recent.get("a"), recent.get("b")) == (b"x" * 5, None)
    recent.clear()
    assert recent.get("a") is None
