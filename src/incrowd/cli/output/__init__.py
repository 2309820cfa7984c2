"""Results as a person reads them in a terminal; one file per kind of result."""
