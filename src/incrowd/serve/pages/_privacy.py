"""Step 4, the privacy: promises in plain words beside their parameters, and how to keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from incrowd.methods.registry import METHOD_OPTIONS
from incrowd.privacy import MODELS
from incrowd.serve.pages._editing import (
    columns_of,
    method_of,
    privacy_of,
    said_of,
    with_privacy,
    with_setting,
)
from incrowd.serve.pages._model_form import ModelForm
from incrowd.serve.pages._parameters import cleaned, offered
from incrowd.serve.pages._parts import Words, ends, notice, panel, view

if TYPE_CHECKING:
    from incrowd.serve.pages._page import Page

_GOALS = {
    "general": "General use: all columns alike",
    "classification": "Prediction: keep what predicts the target",
}
_PUBLISH = {
    "generalized": "One generalized table",
    "anatomy": "Anatomy: exact values, sensitive ones counted by group",
    "lossy-join": "Lossy join: exact values, sensitive ones listed by group",
}


def _methods() -> dict[str, str]:
    """Every method with what it is good for."""
    named = {name: f"{name}: {each.title or name}" for name, each in METHOD_OPTIONS.items()}
    return {"auto": "auto: chosen for you, with the reason", **named}


def show(page: Page) -> None:
    """Build the view of the privacy."""
    with view(
        "What must an attacker not be able to do?",
        f"Every promise holds for every {page.source.one} of the release, and is "
        "checked from the published files before you get them.",
    ):
        PromiseEditor(page)


class PromiseEditor:
    """The promises and settings as a person edits them; every change becomes the draft."""

    def __init__(self, page: Page) -> None:
        self._page = page
        source = page.source
        self._sensitive = columns_of(source.draft, source.columns, "sensitive", "target")
        self._models = privacy_of(source.draft)
        with ui.element("div").classes("sides"):
            with ui.element("div").classes("view"):
                self._box = ui.element("div").classes("view")
                with ui.element("div").classes("line bottom"):
                    self._next = ui.select(
                        self._offered(), label="Another promise", value=self._unused()
                    )
                    self._next.props("outlined").classes("grow")
                    ui.button("Add", icon="add", on_click=self._add).props("outline")
            with ui.element("div").classes("sticky"):
                self._settings()
        self._problem = ui.element("div").classes("wide")
        self._on = ends(lambda: page.go("hierarchies"), lambda: page.go("run"), "Next: run")
        self._fill()
        self._tell(source.problem)

    def _unused(self) -> str:
        used = {name for name, _ in self._models}
        return next((name for name in offered() if name not in used), next(iter(offered())))

    def _fill(self) -> None:
        self._box.clear()
        with self._box:
            for number, (model, entry) in enumerate(self._models):
                self._promise(number, model, entry)

    def _promise(self, number: int, model: str, entry: dict[str, Any]) -> None:
        with panel():
            with ui.element("div").classes("line"):
                chosen = ui.select(
                    self._offered(),
                    value=model,
                    label=f"Promise {number + 1}",
                    on_change=lambda event: self._exchange(number, event.value),
                )
                chosen.props("outlined").classes("grow")
                if len(self._models) > 1:
                    ui.button(icon="delete", on_click=lambda: self._remove(number)).props(
                        f'flat aria-label="Take promise {number + 1} away"'
                    )
            words = Words("p", self._sentence(model, entry)).classes("sentence")
            words.props('aria-live="polite"')

            def changed(told_now: dict[str, Any]) -> None:
                self._models[number] = (model, told_now)
                words.set_text(self._sentence(model, told_now))
                self._save()

            ModelForm(model, entry, self._sensitive, self._page.source, changed)
            weakness = said_of(self._page.source.one, MODELS[model].weakness)
            Words("p", f"Not protected: {weakness}").classes("quiet small")

    def _offered(self) -> dict[str, str]:
        """The models by their titles."""
        return {name: said_of(self._page.source.one, title) for name, title in offered().items()}

    def _sentence(self, model: str, entry: dict[str, Any]) -> str:
        return said_of(self._page.source.one, MODELS[model].sentence(entry))

    def _add(self) -> None:
        model = str(self._next.value)
        self._models.append((model, MODELS[model].starting(self._sensitive)))
        self._next.set_value(self._unused())
        self._fill()
        self._save()

    def _exchange(self, number: int, model: str) -> None:
        self._models[number] = (model, MODELS[model].starting(self._sensitive))
        self._fill()
        self._save()

    def _remove(self, number: int) -> None:
        del self._models[number]
        self._fill()
        self._save()

    def _settings(self) -> None:
        draft = self._page.source.draft
        with panel("How"):
            self._select("Method", "method", _methods(), method_of(draft), "auto")
            self._select("Goal", "goal", _GOALS, draft.get("goal", "general"), "general")
            if self._page.source.is_linked:
                Words(
                    "p",
                    "Published as a table of patients and tables of their events, tied by a "
                    "pseudonym. Anatomy and lossy join are for one row for each patient.",
                ).classes("quiet small")
            else:
                publish = draft.get("publish", "generalized")
                self._select("Publish as", "publish", _PUBLISH, publish, "generalized")
            share = ui.number(
                f"{self._page.source.one.capitalize()}s that may be left out, in percent",
                value=round(100 * float(draft.get("suppression", 0.0)), 4),
                min=0,
                max=99,
                step=0.5,
                on_change=lambda event: self._set(
                    "suppression", round((event.value or 0) / 100, 6), 0.0
                ),
            )
            share.props("outlined").classes("wide")

    def _select(
        self, label: str, key: str, options: dict[str, str], value: object, default: str
    ) -> None:
        ui.select(
            options,
            value=value,
            label=label,
            on_change=lambda event: self._set(key, event.value, default),
        ).props("outlined").classes("wide")

    def _set(self, key: str, value: object, default: object) -> None:
        self._save(with_setting(self._page.source.draft, key, value, default))

    def _save(self, draft: dict[str, Any] | None = None) -> None:
        """Make the draft of what is on the page, or say what is wrong with it."""
        source = self._page.source
        models = [(model, cleaned(model, entry)) for model, entry in self._models]
        wanted = with_privacy(source.draft if draft is None else draft, models)
        self._tell(source.edit(wanted))

    def _tell(self, problem: str | None) -> None:
        self._problem.clear()
        if problem is not None:
            with self._problem:
                notice("bad", problem)
        if self._on is not None:
            self._on.set_enabled(problem is None)
