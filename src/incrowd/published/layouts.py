"""Names in releases: tables of records, columns that tie several tables, files of attributes."""

from urllib.parse import quote

RECORDS = {"generalized": "data", "anatomy": "qit", "lossy-join": "nss"}
"""The table with a row for each record, by how a release is published."""
GROUP, COUNT = "group_id", "count"
"""The columns of an anatomy: the group of a record or a value, and how many records hold it."""
CLASS = "class_id"
"""The column that ties the two tables of a lossy join."""


def file_name(attribute: str) -> str:
    """The attribute's name as part of a file name: letters, digits, spaces and - _ stay."""
    return quote(attribute, safe=" ")
