"""What is refused: one line for each call, with what the error must say."""

from collections.abc import Callable

import pytest


def refuses(*cases: tuple[Callable[[], object], str], error: type[Exception] = ValueError) -> Callable:
    """A test that makes each call and expects the error with a message that matches."""

    @pytest.mark.parametrize(("call", "message"), cases, ids=[message for _, message in cases])
    def test(call: Callable[[], object], message: str) -> None:
        with pytest.raises(error, match=message):
            call()

    return test
