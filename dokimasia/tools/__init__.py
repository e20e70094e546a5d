"""Tools: what an agent may call on an image; plain functions over blobs."""
