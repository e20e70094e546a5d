"""Large contents by hash: image files, compressed texts, and the envelopes that refer to them."""
