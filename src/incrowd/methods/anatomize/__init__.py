"""Anatomize: groups in which no two records share the sensitive value."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from incrowd.counts import RecordCounts
from incrowd.methods.options import MethodOptions

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome, RecordTask


class AnatomizeOptions(MethodOptions):
    """Anatomize: how many different sensitive values a group has, and which records it takes.

    Groups are made of records with `similar` quasi-identifiers, or `blind` to them.
    """

    name: ClassVar[str] = "anatomize"
    place: ClassVar[int] = 7
    title: ClassVar[str] = "exact values, shown apart by group"
    generalizes: ClassVar[bool] = False
    needs: ClassVar[type] = RecordCounts
    any_order: ClassVar[bool] = True
    draws: ClassVar[bool] = True
    """Records are dealt at random."""

    l: int | None = Field(  # noqa: E741
        default=None,
        ge=2,
        strict=True,
        description="different values of a group; left out: as few as the promised models ask for",
    )
    grouping: Literal["similar", "blind"] = Field(
        default="similar",
        description="which records share a group: such with similar quasi-identifiers, or any",
    )

    def decide(self, task: RecordTask) -> Outcome:
        """What its search finds; the compiled loops are loaded only now."""
        from incrowd.methods.anatomize._anatomize import anatomize

        return anatomize(task, self)
