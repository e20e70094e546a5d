"""Reading of stored runs: figures, comparisons, exports, reports, single samples."""
