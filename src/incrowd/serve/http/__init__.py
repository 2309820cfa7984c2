"""The HTTP interface, and who may talk to it."""
