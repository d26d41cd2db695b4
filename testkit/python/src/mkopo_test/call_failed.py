"""The error of a call that fails, and the functions that make calls."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import httpx

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")

# The longest wait of the server is 25 s.
_TIMEOUT_S = 60


class CallFailed(Exception):
    """A call that the service refused, or that got no complete answer, or one that can't be read."""

    def __init__(self, request: str, status: int | None, body: object) -> None:
        self.status = status
        """The HTTP status; None if there was no complete answer."""
        self.body: dict[str, Any] = body if isinstance(body, dict) else {}
        """The answer's body."""
        self.code: str | None = self.body.get("code")
        """The failure's code, such as `mobile_money_refused`."""
        what = [status or "no answer", self.code, self.body.get("message")]
        request_id = f" (request {self.body['request_id']})" if "request_id" in self.body else ""
        super().__init__(f"{request}: {' '.join(str(part) for part in what if part)}{request_id}")


def client(url: str, *, sandbox: str | None = None, token: str | None = None) -> httpx.Client:
    """Return a client for calls to a sandbox; without one, they are for `main`."""
    headers = {}
    if sandbox:
        headers["Mkopo-Sandbox"] = sandbox
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return httpx.Client(base_url=url, headers=headers, timeout=_TIMEOUT_S)


def segment(name: str) -> str:
    """Return a name as a segment of a path."""
    return quote(name, safe="@")


def ask(
    http: httpx.Client,
    method: str,
    path: str,
    *,
    query: dict[str, Any] | None = None,
    body: object = None,
    headers: dict[str, str] | None = None,
) -> Any:  # noqa: ANN401 - the callers know which schema of the contract it is
    """Return the JSON of a successful answer; fail with `CallFailed` otherwise."""
    __tracebackhide__ = True
    given = {name: _text(value) for name, value in (query or {}).items() if value is not None}
    try:
        answer = http.request(method, path, params=given, json=body, headers=headers)
    except httpx.HTTPError as error:
        raise CallFailed(f"{method} {http.base_url}{path}", None, {"message": str(error)}) from None
    if answer.is_success:
        try:
            return answer.json() if answer.content else None
        except ValueError as error:
            raise CallFailed(f"{method} {answer.url}", answer.status_code, {"message": str(error)}) from None
    try:
        said = answer.json()
    except ValueError:
        said = None
    raise CallFailed(f"{method} {answer.url}", answer.status_code, said)


def if_allowed(call: Callable[[], _T]) -> _T | None:
    """Return the answer to a call that consoles may refuse: outside demo mode, or with another provider."""
    try:
        return call()
    except CallFailed as failed:
        if failed.status != HTTPStatus.FORBIDDEN:
            raise
        return None


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
