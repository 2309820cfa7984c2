"""What published labels stand for: one reader for all who read releases."""
