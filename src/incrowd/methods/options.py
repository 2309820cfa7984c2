"""The options of every method, by name: light, so that a policy can be checked without them."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict


class MethodOptions(BaseModel):
    """What a policy may set for a method; `name` is the method's name in the policy."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: ClassVar[str]

    labels: Literal["set", "hierarchy"] = "hierarchy"

    def as_dict(self) -> dict[str, object]:
        """The method and its options as the manifest states them."""
        return {"name": self.name, "options": self.model_dump(mode="json")}


class MondrianOptions(MethodOptions):
    """Mondrian: how a group is split, and what the cells of a group show."""

    name: ClassVar[str] = "mondrian"

    split: Literal["loss", "median"] = "loss"
    labels: Literal["set", "hierarchy"] = "set"


METHOD_OPTIONS: dict[str, type[MethodOptions]] = {
    options.name: options for options in (MondrianOptions,)
}
