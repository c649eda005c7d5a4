"""A kernel that says again what a kernel once said, so that nothing has to be computed."""

from typing import Any

# The messages that a replay needs; comms belong to widgets, which nbval does not compare.
OUTPUTS = {"stream", "display_data", "update_display_data", "execute_result", "clear_output", "error"}
REPLAYED = {"status", *OUTPUTS}
REQUEST = {"msg_type": "execute_request"}


class ReplayedKernel:
    """Says again what a kernel once said, cell by cell, whatever it is asked to execute."""

    def __init__(self, cells: list[list[dict[str, Any]]]) -> None:
        self.cells, self.said = cells, -1

    def is_alive(self) -> bool:
        return True

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        self.said += 1
        self.waiting = iter(self.cells[self.said])
        return str(self.said)

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """The reply has been given."""

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        message = next(self.waiting)
        header = {"msg_type": message["msg_type"]}
        return {**message, "header": header, "parent_header": {**REQUEST, "msg_id": str(self.said)}}

    def stop(self) -> None:
        """There is nothing to stop."""
