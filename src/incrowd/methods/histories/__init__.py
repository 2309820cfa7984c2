"""Histories: what may be known of the events of patients, generalized or hidden row by row."""
