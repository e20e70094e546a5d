"""Long contents by their hash: image files, deflated texts, and the envelopes that refer to them."""
