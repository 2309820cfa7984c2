"""Records on a cluster: read, coded and counted by Spark; only counts come here."""
