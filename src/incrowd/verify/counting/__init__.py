"""What the judge counts: records, groups, combinations and covers."""
