"""The parameters of one privacy model as fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from nicegui import run, ui

from incrowd.serve.pages._editing import said_of
from incrowd.serve.pages._parameters import (
    LONG,
    Parameter,
    categories_of,
    parameters,
    text_of,
    written,
)
from incrowd.serve.pages._parts import values_of
from incrowd.serve.workspace.workspace import WorkspaceSource

_OFFERED = 1_000
"""Values of a column that are offered to choose from, the most frequent first."""
Changed = Callable[[dict[str, Any]], None]


class ModelForm:
    """Fields for every parameter of a model; each change is told with all parameters.

    Parameters
    ----------
    model
        The name of the model.
    entry
        Its parameters at the beginning.
    sensitive
        The columns that a model may protect.
    source
        The file.
    changed
        Called with all parameters after each change.
    """

    def __init__(
        self,
        model: str,
        entry: dict[str, Any],
        sensitive: Sequence[str],
        source: WorkspaceSource,
        changed: Changed,
    ) -> None:
        self._entry = dict(entry)
        self._sensitive = list(sensitive)
        self._source, self._changed = source, changed
        self._limits: list[tuple[str, ui.element]] = []
        self._bound: dict[tuple[str, str], ui.element] = {}
        self._values: list[ui.select] = []
        fields = parameters(model)
        with ui.element("div").classes("line fields"):
            for each in fields:
                if each.kind not in LONG:
                    self._field(each)
        for each in fields:
            if each.kind in LONG:
                self._field(each)

    def _set(self, name: str, value: object) -> None:
        if value is None:
            self._entry.pop(name, None)
        else:
            self._entry[name] = value
        self._changed(dict(self._entry))
        self._show_bound()
        if name == "sensitive" and self._values:
            ui.timer(0, self._offer_values, once=True)
        if name == "sensitive":
            self._fill_limits()

    def _show_bound(self) -> None:
        """Show parameters that go with one value of another one beside it alone."""
        for (other, value), field in self._bound.items():
            field.set_visibility(self._entry.get(other) == value)

    def _field(self, each: Parameter) -> None:
        if each.kind == "limits":
            self._limits.append((each.name, ui.element("div").classes("line")))
            self._fill_limits()
            return
        if each.kind == "switch":
            value = self._entry.get(each.name)
            ui.switch(
                said_of(self._source.one, each.hint or each.label),
                value=bool(each.default if value is None else value),
                on_change=lambda event: self._set(each.name, bool(event.value)),
            )
            return
        field, read = self._made(each)
        field.on_value_change(lambda event: self._set(each.name, read(event.value)))
        short = each.kind in ("whole", "number")
        look = "wide" if each.kind in LONG else "number" if short else "grow"
        field.props("outlined").classes(look)
        nothing = each.name == "sensitive" and not self._sensitive
        hint = said_of(self._source.one, each.hint)
        field.props["hint"] = "no column is sensitive yet: see step 2" if nothing else hint
        if short and each.with_ is not None:
            self._bound[each.with_] = field
            self._show_bound()

    def _made(self, each: Parameter) -> tuple[Any, Callable[[Any], object]]:
        """The field of a parameter, and what a value that it holds is for the model."""
        value = self._entry.get(each.name)
        field: Any
        if each.kind in ("whole", "number"):
            field = ui.number(each.label, value=value, min=each.low, max=each.high, step=each.step)
            field.precision = 0 if each.kind == "whole" else None
            return field, partial(_numeric, each)
        if each.kind == "text":
            return ui.input(each.label, value=value or ""), lambda text: text or None
        if each.kind == "choice":
            chosen = each.default if value is None else value
            return ui.select(list(each.options), label=each.label, value=chosen), _as_it_is
        if each.kind == "values":
            listed = list(value or [])
            field = ui.select(
                listed, label=each.label, value=listed, multiple=True, with_input=True
            )
            self._values.append(field.props("use-chips"))
            ui.timer(0, self._offer_values, once=True)
            return field, lambda chosen: list(chosen or []) or None
        if each.kind == "categories":
            field = ui.textarea(each.label, value=text_of(value))
            return field, lambda text: categories_of(text or "") or None
        if each.kind == "yaml":
            shown = "" if value is None else json.dumps(value, ensure_ascii=False)
            return ui.textarea(each.label, value=shown), lambda text: written(text or "")
        if each.kind == "weights":
            weight = value.get("sensitivity") if isinstance(value, dict) else None
            field = ui.number(each.label, value=weight, min=1)
            return field, lambda weight: None if weight is None else {"sensitivity": float(weight)}
        several = each.kind == "attributes"
        field = ui.select(
            self._sensitive,
            label=each.label,
            multiple=several,
            clearable=not each.needed,
            value=self._known(value, several),
        )
        return field, _as_it_is

    def _known(self, value: object, several: bool) -> Any:
        if several:
            named = value if isinstance(value, list) else [value]
            return [name for name in named if name in self._sensitive]
        return value if value in self._sensitive else None

    async def _offer_values(self) -> None:
        """The values of the sensitive column, to choose from."""
        named = self._entry.get("sensitive")
        found: list[str] = []
        if isinstance(named, str):
            found = await run.io_bound(values_of, self._source, named) or []
        for field in self._values:
            if not field.is_deleted and named == self._entry.get("sensitive"):
                kept = [value for value in field.value or [] if value in found]
                field.set_options(found[:_OFFERED], value=kept)

    def _fill_limits(self) -> None:
        """A number for each sensitive column of the model."""
        named = self._entry.get("sensitive")
        for limits, box in self._limits:
            box.clear()
            for name in named if isinstance(named, list) else []:
                with box:
                    self._limit_field(limits, name)

    def _limit_field(self, limits: str, name: str) -> None:
        field = ui.number(
            f"Limit of {name}",
            value=(self._entry.get(limits) or {}).get(name),
            min=0,
            precision=0,
            on_change=lambda event: self._limit(limits, name, event.value),
        )
        field.props("outlined").classes("grow")
        field.props["hint"] = "values that an attacker may rule out; left out: no limit"

    def _limit(self, limits: str, name: str, value: float | None) -> None:
        asked = dict(self._entry.get(limits) or {})
        if value is None:
            asked.pop(name, None)
        else:
            asked[name] = int(value)
        self._set(limits, asked)


def _as_it_is(value: object) -> object:
    return value


def _numeric(each: Parameter, value: float | None) -> int | float | None:
    if value is None:
        return None
    whole = each.kind == "whole" or (each.step == 1 and float(value).is_integer())
    return int(value) if whole else float(value)
