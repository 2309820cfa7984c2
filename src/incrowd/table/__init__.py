"""Tables: the records as integer codes with dictionaries, one column for each attribute."""

from incrowd.table._table import (
    ONE_EACH,
    Codes,
    Column,
    JointColumn,
    Kind,
    MemoryTable,
    Role,
    Table,
    Tally,
    Weighted,
    code_dtype,
    first_told,
    narrow,
)

__all__ = [
    "ONE_EACH",
    "Codes",
    "Column",
    "JointColumn",
    "Kind",
    "MemoryTable",
    "Role",
    "Table",
    "Tally",
    "Weighted",
    "code_dtype",
    "first_told",
    "narrow",
]
