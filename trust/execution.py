"""Notebooks and cells for pytest: nbval executes each notebook once, every check reads what that run gave.

nbval compares the texts of outputs and forgets the rest. Here the same kernel messages also go through
nbclient, which makes of them the notebook as it would be stored today: pictures, cleared and updated outputs,
the state of widgets. Further checks run after the last cell, in the same process, so nothing has to be
executed again for them.

With `--replay NOTEBOOK` the outputs come from a notebook that was executed before: nbval's verdict on a
changed notebook can be seen without computing anything.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete
from nbformat import NotebookNode
from nbval.plugin import IPyNbCell, IPyNbFile, coalesce_streams

from trust import notebooks, tolerance

# After a cell's reply, what it printed is on its way; on a busy machine nbval's own five seconds are few.
OUTPUT_SECONDS = 120
IDLE = {"msg_type": "status", "content": {"execution_state": "idle"}, "parent_header": {"msg_id": "cell"}}
# In the place of a kernel: it is done with every cell at once, and says nothing.
REPLAYED = SimpleNamespace(
    is_alive=lambda: True,
    execute_cell_input=lambda source, allow_stdin: "cell",
    await_reply=lambda id, timeout: None,
    get_message=lambda stream, timeout: IDLE,
    stop=lambda: None,
)


class ExecutedNotebook(IPyNbFile):
    """A notebook of nbval that keeps what its one execution gave."""

    def __init__(self, checks: dict[str, Callable[..., None]], **options: Any) -> None:
        super().__init__(**options)
        self.checks = checks  # by name; of this notebook and of pytest's item, after the last cell

    def collect(self) -> Iterator[pytest.Item]:
        try:
            notebooks.load(self.path)
        except notebooks.Unusable as problem:
            raise self.CollectError(f"{self.path.name} {problem}") from None
        cells = list(super().collect())
        replay = self.config.option.replay
        self.fresh = nbformat.read(replay, 4) if replay else deepcopy(self.nb)
        if not replay:
            self.fresh.metadata.pop("widgets", None)
            for cell in self.code_cells():
                cell.outputs, cell.execution_count = [], None
        self.recorder = NotebookClient(self.fresh, coalesce_streams=True, record_timing=False)
        self.recorder.reset_execution_trackers()
        self.begun = 0
        for cell in cells:
            yield ExecutedCell.from_parent(
                self, name=cell.name, cell_num=cell.cell_num, cell=cell.cell, options=cell.options
            )
        for name in () if replay else self.checks:
            yield Check.from_parent(self, name=name)

    def setup(self) -> None:
        if self.config.option.replay:
            self.kernel = REPLAYED
            return
        try:
            super().setup()
        except NoSuchKernel as problem:
            pytest.fail(f"{self.path.name} needs the kernel {problem.name!r}, which is not installed", False)

    def code_cells(self) -> list[NotebookNode]:
        return [cell for cell in self.fresh.cells if cell.cell_type == "code"]

    def begin(self, number: int) -> None:
        """What the kernel says from now on belongs to this code cell."""
        cell = self.code_cells()[number]
        cell.execution_count = number + 1
        self.current = (cell, self.fresh.cells.index(cell))
        self.recorder.clear_before_next_output = False
        self.begun += 1

    def get_kernel_message(self, timeout: float | None = None, stream: str = "iopub") -> dict:
        message = super().get_kernel_message(timeout, stream)
        if message["parent_header"].get("msg_type") != "execute_request":
            return message  # of the kernel's start, not of a cell
        cell, index = self.current
        count = cell.execution_count  # nbval runs cells without counting them
        with suppress(CellExecutionComplete):  # nbval reads the same message and ends the cell
            self.recorder.process_message(message, cell, index)
        cell.execution_count = count
        return message

    def stored(self) -> dict[str, Any]:
        """The notebook as it is stored."""
        return notebooks.load(self.path)

    def executed(self) -> dict[str, Any]:
        """The notebook as its code gives it today, as it would be read from its file."""
        if self.begun != len(self.code_cells()):
            pytest.skip("not every cell of the notebook was executed in this run")
        self.recorder.set_widgets_metadata()
        return notebooks.current(json.loads(nbformat.writes(self.fresh)))


class ExecutedCell(IPyNbCell):
    """A cell whose outputs are compared as nbclient would store them, within the declared tolerance."""

    def runtest(self) -> None:
        self.output_timeout = OUTPUT_SECONDS
        self.parent.begin(self.cell_num)
        super().runtest()

    def compare_outputs(self, test: list, ref: list, skip_compare: Any = None) -> bool:
        fresh = coalesce_streams(deepcopy(self.parent.current[0].outputs))
        fresh = tolerance.settled_outputs(fresh, ref, tolerance.declared(self.cell))
        return super().compare_outputs(fresh, ref, skip_compare)


class Check(pytest.Item):
    """A check on what the execution gave."""

    parent: ExecutedNotebook

    def runtest(self) -> None:
        self.parent.checks[self.name](self.parent, self)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{self.path.name}: {self.name}"
