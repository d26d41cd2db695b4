"""What the verbs of all nouns have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mkopo_test.call_failed import ask

if TYPE_CHECKING:
    import httpx


class Verbs:
    """Verbs that call the API of a console."""

    def __init__(self, console: httpx.Client) -> None:
        self._console = console

    def _ask(self, method: str, path: str, **sent: Any) -> Any:  # noqa: ANN401 - as `ask`
        __tracebackhide__ = True
        return ask(self._console, method, f"/console/api/{path}", **sent)
