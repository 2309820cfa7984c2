"""Releases as whoever reads them finds them: their tables, records and groups."""
