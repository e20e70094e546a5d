"""What is read of a tree's growth: proposals, placements and merges."""
