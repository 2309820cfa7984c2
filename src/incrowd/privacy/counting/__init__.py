"""What privacy models count with: crowds of few attributes, deletions, joint columns."""
