"""Questions to people in the place of models: as rows, and as a run asks them."""
