"""What a running server holds: sources, runs, and the processes that work on them."""
