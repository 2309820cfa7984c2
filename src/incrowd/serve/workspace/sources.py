"""Source: one table in the workspace, with its profile, its hierarchies and the policy in work."""

from __future__ import annotations

import copy
import shutil
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal

from incrowd._runtime.plain_yaml import load
from incrowd.errors import IncrowdError, InputError, ParameterError, PolicyError, nearest
from incrowd.policy import AttributePolicy, Policy
from incrowd.policy.units import check_unit, looked_at
from incrowd.privacy import KAnonymity
from incrowd.profiling import Profile
from incrowd.serve.workspace import _drafts as drafts
from incrowd.serve.workspace._jobs import CancelledError, Workers, WorkerTask
from incrowd.serve.workspace._live_risk import CodedColumns, CodedTables, linked_risk, live_risk
from incrowd.serve.workspace._names import free_path, safe_name
from incrowd.serve.workspace._studies import head_of
from incrowd.serve.workspace.attributes import asked_of, entry_of, tables_in, with_asked
from incrowd.serve.workspace.linked_tables import LinkedTable, label_of, profile_of
from incrowd.serve.workspace.trees import Coverage, Tree, column_of, look
from incrowd.sources.files import TextOptions
from incrowd.table.repeats import Repeats

SourceState = Literal["studying", "ready", "failed"]
HIERARCHY_LIMIT = 64 << 20
"""The largest hierarchy file, in bytes."""
_MANY_RISKS = 64


class NotReadyError(InputError):
    """The source is still being studied, or the run has not ended."""


class WorkspaceSource:
    """One table: a file in a folder of its own, what was found in it, and its draft of a policy.

    Or several `files` that are tables of the same patients: then `tables` tells how they hang
    together, and the columns of events are called `table.column`.

    `state` is studying, ready or failed; `message` then says why. While it is studied, `stage`,
    `done` and `whole` tell how far that is. All methods may be called from any thread; those that
    look at the data take a moment, so a page calls them in a thread of their own.
    """

    def __init__(
        self,
        number: str,
        name: str,
        folder: Path,
        *,
        demo: bool = False,
        files: Sequence[str] = (),
    ) -> None:
        self.id = number
        self.name = name
        self.folder = folder
        self.files = tuple(files) or (name,)
        self.tables: tuple[LinkedTable, ...] = ()
        self.demo = demo
        self.state: SourceState = "studying"
        self.message = ""
        self.stage, self.done, self.whole = "waiting", 0, 1
        self.studied = threading.Event()
        """Set once the study has ended, well or not."""
        self.profile: Profile | None = None
        self._coded: CodedColumns | CodedTables | None = None
        self._heads: list[dict[str, Any]] = []
        self._text = ""
        self._draft: dict[str, Any] = {}
        self._problem: str | None = None
        self._risks: dict[tuple[tuple[str, ...], tuple[str, ...], str | None], dict[str, Any]] = {}
        self._repeats: dict[str, Repeats] = {}
        self._lock = threading.RLock()
        self._job: WorkerTask | None = None

    # -- the study ---------------------------------------------------------------------------

    def study(self, workers: Workers, text: TextOptions | None) -> None:
        """Profile the files and code their columns, in a process of its own; waits for it."""
        coded = self.folder / ".coded"
        said = TextOptions(separator=None, encoding=None, header=None) if text is None else text
        how = (said["separator"], said["encoding"], said["header"])
        paths = [str(self.folder / each) for each in self.files]
        task, arguments = "study", [*paths, str(coded), *how]
        if self.is_linked:
            task, arguments = "tables", [str(coded), *how, *paths]
        if self.demo:
            task, arguments = "demo", [str(self.folder), str(coded)]
        with self._lock:
            if self.state != "studying":
                return
            self._job = WorkerTask(workers, task, arguments)
        try:
            found = self._job.run(self._tell)
            self._take(found, coded)
        except CancelledError:
            self._fail("The file was taken away.")
        except IncrowdError as error:
            self._fail(str(error))
        finally:
            self.studied.set()

    def stop(self) -> None:
        """End the study, if it is under way."""
        with self._lock:
            job = self._job
            if self.state == "studying":
                self.state = "failed"
        if job is not None:
            job.stop()

    def _tell(self, stage: str, done: int, whole: int) -> None:
        self.stage, self.done, self.whole = stage, done, whole

    def _take(self, found: Mapping[str, Any], coded: Path) -> None:
        self.profile = profile_of(found["profile"])
        if self.is_linked:
            self._take_tables(found["tables"], coded)
        else:
            self._coded = CodedColumns(coded, self.columns, found["coded"])
            self._heads = [head_of(coded)]
        try:
            self.set_policy(found["policy"])
        except PolicyError as error:  # a person must decide first what a row is
            self._text, self._draft = found["policy"], load(found["policy"])
            self._problem = str(error)
        self.state = "ready"

    def _take_tables(self, told: Sequence[Mapping[str, Any]], coded: Path) -> None:
        self.tables = tuple(LinkedTable.of(each) for each in told)
        self.name = label_of(self.tables)
        self._coded = CodedTables(
            coded, {each["name"]: (each["columns"], each["coded"]) for each in told}
        )
        self._heads = [head_of(coded / str(number)) for number, _ in enumerate(told)]

    def _fail(self, message: str) -> None:
        self.state, self.message = "failed", message
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def is_linked(self) -> bool:
        """Whether it is several files, tables of the same patients."""
        return len(self.files) > 1

    def require_ready(self) -> CodedColumns | CodedTables:
        """The coded columns; raises NotReadyError until the study has ended well."""
        if self.state == "failed":
            raise NotReadyError(f"{self.name} could not be read: {self.message}")
        if self._coded is None:
            raise NotReadyError(f"{self.name} is still being read. Ask again in a moment.")
        return self._coded

    # -- what is in it -----------------------------------------------------------------------

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in the order of the file."""
        return [] if self.profile is None else [column.name for column in self.profile.columns]

    @property
    def records(self) -> int | None:
        """How many records there are, once that is known; of linked tables, how many patients."""
        return None if self.profile is None else self.profile.records

    def preview(
        self, rows: int = 100, table: str | None = None
    ) -> tuple[list[str], list[list[str | None]]]:
        """The columns, and the first rows as text (None where a cell is missing), at most 1,000.

        Of linked tables those of the one that is named, or else of the patients.
        """
        self.require_ready()
        names = [each.name for each in self.tables]
        if table is not None and table not in names:
            raise ParameterError(f"No table '{table}' in {self.name}.{nearest(table, names)}")
        head = self._heads[0 if table is None else names.index(table)]
        return list(head["columns"]), [list(row) for row in head["rows"][:rows]]

    def rows_of(self, table: str | None = None) -> int | None:
        """How many rows a table has; of one file, and without a name, the first one."""
        rows = {each.name: each.rows for each in self.tables}
        return self.records if not rows else rows[table or next(iter(rows))]

    def risk(
        self, quasi: list[str] | None = None, sensitive: list[str] | None = None
    ) -> dict[str, Any]:
        """How exposed the records are, or the patients where the draft tells these apart.

        By default under the roles of the draft. The last answers are remembered, so a click that
        is taken back costs nothing.
        """
        coded = self.require_ready()
        chosen = self.of_role("quasi") if quasi is None else quasi
        apart = self.of_role("sensitive") if sensitive is None else sensitive
        unit = self.unit
        key = (tuple(chosen), tuple(apart), unit)
        with self._lock:
            if key in self._risks:
                return copy.deepcopy(self._risks[key])
        if isinstance(coded, CodedTables):
            found = linked_risk(coded, chosen, apart)
        else:
            found = live_risk(coded, chosen, apart, unit)
        with self._lock:
            while len(self._risks) >= _MANY_RISKS:
                self._risks.pop(next(iter(self._risks)))
            self._risks[key] = found
        return copy.deepcopy(found)

    @property
    def unit(self) -> str | None:
        """The column that tells patients apart, as the draft says; None where none does."""
        unit = self._draft.get("unit")
        return unit if isinstance(unit, str) and unit in self.columns else None

    @property
    def patients(self) -> int | None:
        """How many patients there are, where they may have several rows; else None."""
        if self.is_linked:
            return self.records
        found = self._repeats.get(self.unit or "")
        return found.distinct if found is not None and found.any else None

    @property
    def one(self) -> Literal["record", "patient"]:
        """What a run under the draft counts."""
        return "record" if self.patients is None else "patient"

    def of_role(self, role: str) -> list[str]:
        """The columns to which the draft gives a role, in the order of the file."""
        asked = {name: asked_of(self._draft, name) for name in self.columns}
        roles = {
            name: spec.get("role") if isinstance(spec, Mapping) else spec
            for name, spec in asked.items()
        }
        return [name for name in self.columns if roles[name] == role]

    # -- the policy --------------------------------------------------------------------------

    @property
    def draft(self) -> dict[str, Any]:
        """A copy of the policy in work, as a mapping of the shape of a policy file."""
        with self._lock:
            return copy.deepcopy(self._draft)

    @property
    def problem(self) -> str | None:
        """Why the draft cannot be run as it is; None when it can."""
        return self._problem

    def policy_text(self) -> str:
        """The draft as a policy file that runs on the command line beside the source."""
        with self._lock:
            return self._text

    def set_policy(self, policy: str | Mapping[str, Any]) -> Policy:
        """Take a policy, as text or as a mapping, in the place of the draft.

        Raises
        ------
        PolicyError
            It is not legal or does not fit the file; the draft stays as it was.
        """
        if isinstance(policy, str):
            Policy.from_yaml(policy)  # says where the text is wrong
            text = policy if self.is_linked else drafts.own_source(policy, self.name)
            given: Any = load(text)
        else:
            text, given = "", copy.deepcopy(dict(policy))
        found, mapping = self._checked(given)
        if mapping != given:  # other files were named
            text = ""
        with self._lock:
            self._draft, self._problem = mapping, None
            self._text = text or drafts.as_text(mapping)
        return found

    def edit(self, draft: Mapping[str, Any]) -> str | None:
        """Take a draft that need not be legal yet; says what is wrong with it, None for nothing."""
        mapping = copy.deepcopy(dict(draft))
        with self._lock:
            try:
                self.set_policy(mapping)
            except InputError as error:
                self._draft = mapping if tables_in(mapping) else {**mapping, "source": self.name}
                self._text, self._problem = drafts.as_text(self._draft), str(error)
            return self._problem

    def checked_policy(self) -> tuple[str, Policy]:
        """The text of the draft and its policy; raises PolicyError when it is not legal."""
        self.require_ready()
        with self._lock:
            mapping = copy.deepcopy(self._draft)
            policy, _ = self._checked(mapping)
            return self._text, policy

    def _checked(self, mapping: object) -> tuple[Policy, dict[str, Any]]:
        """The policy of a mapping; refuses also what only the rows tell, with the run's words."""
        if self.is_linked:
            return drafts.checked_tables(mapping, self.folder, self.tables)
        policy, mapping = drafts.checked(mapping, self.folder, self.name, self.columns)
        assert isinstance(self._coded, CodedColumns)
        with self._lock:
            for name in looked_at(policy):
                if name not in self._repeats:
                    self._repeats[name] = self._coded.repeats(name)
            check_unit(policy, [self._repeats[name] for name in looked_at(policy)], self.name)
        return policy, mapping

    # -- hierarchies -------------------------------------------------------------------------

    def add_hierarchy(self, attribute: str, name: str, stream: IO[bytes]) -> Coverage:
        """Take a hierarchy file for an attribute, and let the draft name it.

        A file that lacks values of the column is taken too: the coverage tells how many.

        Raises
        ------
        HierarchyError
            The file is not a hierarchy; the draft stays as it was.
        """
        self._column_exists(attribute)
        folder = self.folder / "hierarchies"
        folder.mkdir(exist_ok=True)
        content = stream.read(HIERARCHY_LIMIT + 1)
        if len(content) > HIERARCHY_LIMIT:
            raise ParameterError(f"A hierarchy may have {HIERARCHY_LIMIT >> 20} MB at most.")
        with self._lock:
            path = free_path(folder, safe_name(name, "hierarchy.csv"))
            path.write_bytes(content)
            file = path.relative_to(self.folder).as_posix()
            try:
                tree = self.hierarchy_tree(attribute, hierarchy=file)
            except BaseException:
                path.unlink()
                raise
            spec = {**entry_of(self._draft, attribute), "hierarchy": file}
            self.edit(with_asked(self._draft, attribute, spec))
        return tree.coverage

    def hierarchy_tree(
        self, attribute: str, *, hierarchy: Any = None, breadth: int = 12, depth: int = 4
    ) -> Tree:
        """The hierarchy of an attribute as a tree: that of the draft, or another one.

        Parameters
        ----------
        attribute
            A column.
        hierarchy
            What a policy would say of it, to look at it before it is taken.
        breadth, depth
            How many children of a node are listed, and how many levels below the top.
        """
        coded = self.require_ready()
        self._column_exists(attribute)
        asked = self._asked(attribute, hierarchy)
        wanted = asked.hierarchy
        if wanted is not None and wanted.file is not None:
            drafts.refuse_outside(self.folder, wanted.file, attribute)
        column = column_of(attribute, *coded.texts(attribute), asked)
        return look(column, wanted, self.folder, breadth=breadth, depth=depth)

    def _asked(self, attribute: str, hierarchy: Any) -> AttributePolicy:
        """What the draft says of an attribute, with another hierarchy in place of its own."""
        spec = entry_of(self._draft, attribute)
        if hierarchy is not None:
            spec["hierarchy"] = hierarchy
        # A whole policy of this one attribute, for the words of its validation.
        policy = Policy.from_mapping(
            {
                "attributes": {attribute: {**spec, "role": "quasi"}},
                "privacy": [{KAnonymity.name: {"k": 2}}],
            }
        )
        return policy.attributes[attribute]

    def _column_exists(self, attribute: str) -> None:
        self.require_ready()
        if attribute not in self.columns:
            raise ParameterError(
                f"No column '{attribute}' in {self.name}.{nearest(attribute, self.columns)}"
            )

    def inputs(self) -> list[str]:
        """The files that a run reads, relative to the folder of the source."""
        return [each.file for each in self.tables] if self.is_linked else [self.name]

    def used_files(self, policy: Policy) -> list[str]:
        """The hierarchy files that a policy names, relative to the folder of the source."""
        asked = [each.hierarchy for each in policy.attributes.values()]
        return list(dict.fromkeys(h.file for h in asked if h is not None and h.file is not None))
