"""Who takes part, with which keys and how many records, and what each did before."""
