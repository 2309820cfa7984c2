"""Tables: the records as integer codes with dictionaries, one column for each attribute."""

from incrowd.table._table import (
    Codes,
    Column,
    Kind,
    Role,
    Table,
    Tally,
    code_dtype,
    first_told,
    narrow,
    records_of,
)

__all__ = [
    "Codes",
    "Column",
    "Kind",
    "Role",
    "Table",
    "Tally",
    "code_dtype",
    "first_told",
    "narrow",
    "records_of",
]
