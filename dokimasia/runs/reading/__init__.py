"""What is read from stored runs: figures, comparisons, exports, reports, single samples."""
