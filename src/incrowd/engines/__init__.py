"""Engines: where the records of a job live while they are counted, and how they get there."""
