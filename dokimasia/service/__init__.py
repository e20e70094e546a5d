"""The service: runs over HTTP, pages, and people as models; one process, one home."""
