"""Signed messages between hospitals, over TLS with pinned certificates."""
