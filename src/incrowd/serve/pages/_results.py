"""Step 6, the results: verified or not, risk and utility beside earlier runs, and the downloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from incrowd.privacy import MODELS
from incrowd.report.scatter import SHAPES, Point
from incrowd.serve.pages._addresses import of_run
from incrowd.serve.pages._editing import said_of
from incrowd.serve.pages._parts import Words, cell, figure, notice, panel, rounded, table, view
from incrowd.serve.pages._policy_text import command_line
from incrowd.serve.pages._result_tables import published_tables, side_by_side, what_became
from incrowd.serve.workspace.pictures import one_in, risk_utility

if TYPE_CHECKING:
    from incrowd.serve.pages._page import Page
    from incrowd.serve.workspace.workspace import Run

_SIGNS = {True: "kept", False: "BROKEN", None: "open"}
_APART = 'outline target="_blank" rel="noopener"'
"""The look of a link that opens a page of its own."""


def show(page: Page) -> None:
    """Build the view of the results: those of the open run, or of the latest that is done."""
    done = [each for each in page.place.runs(page.workspace) if each.state == "done"]
    opened = page.place.run(page.workspace)
    current = opened if opened in done else done[-1]
    assert current is not None
    assert current.summary is not None
    with view(f"Run {current.number}: the release"):
        _verdict(current.summary)
        _downloads(current)
        _figures(current.summary)
        with panel("Risk and utility of all runs"), ui.element("div").classes("picture"):
            _picture(done, current)
            with ui.element("div"):
                _list_of_runs(page, done, current)
        _promises(current.summary)
        if page.source.is_linked:
            published_tables(current)
        what_became(current)
        side_by_side(page.source, current)
        _policy(current)
        with ui.element("div").classes("ends"):
            ui.button(
                "Change the privacy", icon="arrow_back", on_click=lambda: page.go("privacy")
            ).props("outline")
            ui.button("Another file", icon="upload_file", on_click=lambda: page.go("file")).props(
                "outline"
            )


def _verdict(summary: dict[str, Any]) -> None:
    one = _one(summary)
    records, groups = summary[f"{one}s"], summary["groups"]
    left = records["suppressed"] + records["missing_dropped"]
    told_left = f"{left:,} {one}s were left out" if left else f"no {one} was left out"
    if summary["verified"]:
        notice(
            "good",
            f"Verified. All promises hold, judged from the published files alone: "
            f"{records['published']:,} {one}s in {groups['count']:,} groups of "
            f"{groups['smallest']:,} to {groups['largest']:,}; {told_left}.",
        )
    else:
        notice("bad", "Not verified: see the promises below. Do not share this release.")
    for warning in summary["warnings"]:
        notice("bad", f"{warning}. Who knows these values of a person finds the {one}.")
    notice("info", summary["counted"])
    for remark in summary["remarks"]:
        notice("info", remark)
    for model in dict.fromkeys(MODELS[each["model"]] for each in summary["measured"]):
        if model.partial:
            notice(
                "info",
                f"{model.literature or model.name} is about attackers who know a few facts. The "
                "risk below is that of one who knows all quasi-identifiers.",
            )
    if summary["publish"] != "generalized":
        notice(
            "info",
            "Quasi-identifiers are shown as they are; which sensitive value is whose, only by "
            "group. That a patient is in the data is not hidden.",
        )


def _one(summary: dict[str, Any]) -> str:
    """What a run counted: patient or record."""
    return "patient" if "patients" in summary else "record"


def _downloads(current: Run) -> None:
    with ui.element("div").classes("line"):
        look = f'unelevated download="release-{current.number}.zip"'
        _link("Download the release", "download", of_run(current.id, "archive"), look)
        if current.report is not None:
            _link("Open the report", "open_in_new", of_run(current.id, "report"), _APART)
        if current.private_report is not None:
            address = of_run(current.id, "private-report")
            _link("Before and after, not for publication", "lock", address, _APART)
        look = 'outline download="policy.yaml"'
        _link("Download the policy", "description", of_run(current.id, "policy"), look)


def _link(text: str, icon: str, address: str, look: str) -> None:
    """A button that is a link, so that the browser itself loads what it leads to."""
    ui.button(text, icon=icon).props(f'{look} href="{address}"')


def _figures(summary: dict[str, Any]) -> None:
    risk, groups = summary["risk"], summary["groups"]
    one = risk["one"]
    with panel("In figures"), ui.element("div").classes("figures"):
        figure(one_in(risk["prosecutor"]["highest"]), f"highest risk that a {one} is recognized")
        figure(rounded(risk["prosecutor"]["average"]), "risk on average")
        unchanged, hidden = _cells(summary)
        figure(rounded(unchanged), "of the cells of quasi-identifiers are as they were")
        if hidden:
            figure(rounded(hidden), "of them are hidden (*)")
        figure(f"{groups['smallest']:,}", f"{one}s in the smallest group")
        for each in risk["sensitive"][:1]:
            guessed = rounded(each["confidence_per_record"])
            figure(guessed, f"of the best guesses at {each['name']} are right")


def _cells(summary: dict[str, Any]) -> tuple[float, float]:
    """The shares of cells of quasi-identifiers that are as they were, and that are hidden."""
    found = list(summary["seen"].values())
    shares = [sum(each[key] for each in found) / len(found) for key in ("unchanged", "hidden")]
    return shares[0], shares[1]


def _promises(summary: dict[str, Any]) -> None:
    """The judgement on each promise; the checks of the files fold away."""
    count = len(summary["measured"])
    findings, one = summary["findings"], _one(summary)
    with panel("Promises, judged from the published files"):
        _findings(findings[-count:] if count else [], one)
        with ui.expansion(f"{len(findings) - count} checks of the files").classes("wide"):
            _findings(findings[: len(findings) - count], one)
        if summary["not_judged"]:
            listed = "; ".join(summary["not_judged"])
            Words("p", f"Not judged: {listed}.").classes("quiet small breakable")


def _findings(findings: list[dict[str, Any]], one: str) -> None:
    with table(["Promise", "Judged", "What was found"], classes="cards"):
        for each in findings:
            with ui.element("tr"):
                cell(each["promise"], head=True)
                cell(_SIGNS[each["holds"]], "Judged")
                cell(said_of(one, each["detail"]), "Found").classes("small")


def _list_of_runs(page: Page, done: list[Run], current: Run) -> None:
    """The runs of this file in words: the picture for those who do not see it."""

    def opened(number: str) -> None:
        page.place.run_id = number
        page.go("results")

    columns = ["Run", "Highest risk", "As it was", "Hidden (*)", "Method", ""]
    with table(columns, classes="cards", figures=(2, 3)):
        for each in done:
            assert each.summary is not None
            with ui.element("tr"):
                cell(f"Run {each.number}", head=True)
                cell(one_in(each.summary["risk"]["prosecutor"]["highest"]), "Highest risk")
                unchanged, hidden = _cells(each.summary)
                cell(rounded(unchanged), "As it was", figure=True)
                cell(rounded(hidden), "Hidden (*)", figure=True)
                cell(str(each.summary["method"]["name"]), "Method").classes("small")
                with cell():
                    if each is current:
                        Words("span", "shown").classes("quiet small")
                    else:
                        button = ui.button("Open", on_click=lambda number=each.id: opened(number))
                        button.props("outline dense").props["aria-label"] = (
                            f"Open run {each.number}"
                        )


def _picture(done: list[Run], current: Run) -> None:
    assert current.summary is not None
    before = current.summary["risk_before"]["prosecutor"]["highest"]
    points = [Point(0, "Raw file", "Raw file", before, 1.0, None, SHAPES.index("diamond"))]
    for each in done:
        assert each.summary is not None
        name = f"Run {each.number}" + (" (shown)" if each is current else "")
        risk, kept = each.summary["risk"]["prosecutor"]["highest"], _cells(each.summary)[0]
        shape = SHAPES.index("square" if each is current else "circle")
        points.append(Point(each.number, name, name, risk, kept, f"/?run={each.id}", shape))
    ui.html(risk_utility(points, _one(current.summary)), sanitize=True).classes("drawing wide")


def _policy(current: Run) -> None:
    with panel("The policy of this run"):
        text = Words("pre", current.policy).classes("policy").props('tabindex="0"')
        text.props["aria-label"] = "Policy file"
        command_line()
