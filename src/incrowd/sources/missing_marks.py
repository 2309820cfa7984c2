"""How people write that a cell has no value."""

MARKS = (
    "?", "-", "--", ".", "na", "n/a", "n.a.", "nan", "null", "none", "nil", "missing", "unknown",
    "not known", "unk", "k.a.", "k. a.", "unbekannt", "keine angabe", "fehlt", "inconnu",
    "non renseigne", "desconocido", "sin dato", "onbekend", "sconosciuto", "#n/a",
)  # fmt: skip
"""Words and signs for unknown: harmless to name."""
