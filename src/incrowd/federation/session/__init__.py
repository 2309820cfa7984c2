"""Leader and parties: the session of a run, turn by turn."""
