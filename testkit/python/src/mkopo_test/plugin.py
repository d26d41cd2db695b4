"""The fixtures `mkopo` and `sandbox`, and the report of a test that failed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import pytest

from mkopo_test.mkopo import Addresses, Mkopo, Portal, Sandbox, Start
from mkopo_test.start_portal import start_portal
from mkopo_test.what_happened import what_happened

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from datetime import datetime

    from xdist.workermanage import WorkerController  # type: ignore[import-untyped]

_HAS_FAILED = pytest.StashKey[bool]()
_STOP = pytest.StashKey[Callable[[], None]]()

# What workers of pytest-xdist are told by the process that starts them.
_URL, _CONSOLE_URL, _TOKEN, _FAILURE = "mkopo_url", "mkopo_console_url", "mkopo_token", "mkopo_failure"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "mkopo(sandbox_per='worker', seed=1, now=None, frozen=False, check_invariant=True): "
        "the sandbox of a test: one for each worker, reset before each test, or one for each test; "
        "what it starts with; and whether every shilling must be accounted for after the test",
    )


class _Sandboxes:
    """The sandboxes of one worker."""

    def __init__(self, portal: Portal, folders: pytest.TempPathFactory, *, end_with_the_run: bool) -> None:
        self.folders = folders
        self.end_with_the_run = end_with_the_run
        self._portal = portal
        # Where the clocks of this worker start if a test does not say it.
        self._now = Start().exact().now
        self._of_worker: Mkopo | None = None

    def get(self, per: str, start: Start) -> Mkopo:
        """Return a sandbox at its start."""
        known = Start(start.seed, start.now or self._now, start.frozen)
        if per == "test":
            return self._portal.make_sandbox(known)
        if self._of_worker:
            self._of_worker.reset(known)
        else:
            self._of_worker = self._portal.make_sandbox(known)
        return self._of_worker

    def give_back(self, mkopo: Mkopo, *, is_kept: bool) -> None:
        """Take the sandbox back from a test; after a failure, it is kept as it is."""
        if is_kept and mkopo is self._of_worker:
            self._of_worker = None
        if not is_kept and mkopo is not self._of_worker:
            self._portal.remove_sandbox(mkopo.sandbox.name)

    def end(self) -> None:
        if self._of_worker:
            self._portal.remove_sandbox(self._of_worker.sandbox.name)


@pytest.fixture(scope="session")
def _sandboxes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[_Sandboxes]:
    config = request.config
    told: dict[str, Any] = getattr(config, "workerinput", {})
    if _FAILURE in told:
        raise RuntimeError(told[_FAILURE])
    given = _given_addresses()
    if _URL in told:
        addresses = Addresses(told[_URL], told[_CONSOLE_URL], told[_TOKEN])
    else:
        addresses = given or _start(config)
    sandboxes = _Sandboxes(Portal(addresses), tmp_path_factory, end_with_the_run=given is None)
    yield sandboxes
    sandboxes.end()


@pytest.fixture
def mkopo(request: pytest.FixtureRequest, _sandboxes: _Sandboxes) -> Iterator[Mkopo]:
    """Return the sandbox of this test, as it was made, with verbs for all that its console can do."""
    item = request.node
    marker = item.get_closest_marker("mkopo")
    settings = _Settings(**(marker.kwargs if marker else {}))
    mkopo = _sandboxes.get(settings.sandbox_per, settings.start)
    yield mkopo
    problem = _unaccounted(mkopo) if settings.check_invariant else None
    _sandboxes.give_back(mkopo, is_kept=bool(problem) or item.stash.get(_HAS_FAILED, False))
    if problem:
        raise AssertionError(problem)


@pytest.fixture
def sandbox(mkopo: Mkopo) -> Sandbox:
    """Return the name, the addresses and the token of the sandbox of this test."""
    return mkopo.sandbox


class _Settings:
    """What the marker `mkopo` says."""

    def __init__(
        self,
        *,
        sandbox_per: str = "worker",
        check_invariant: bool = True,
        seed: int | Literal["empty"] = 1,
        now: datetime | str | None = None,
        frozen: bool = False,
    ) -> None:
        if sandbox_per not in ("worker", "test"):
            raise ValueError(f"sandbox_per is {sandbox_per!r}, and must be 'worker' or 'test'")
        self.sandbox_per = sandbox_per
        self.check_invariant = check_invariant
        self.start = Start(seed, now, frozen)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to the report of a failure what the portal knows, and where the sandbox is."""
    report = yield
    mkopo = getattr(item, "funcargs", {}).get("mkopo")
    is_first = not item.stash.get(_HAS_FAILED, False)
    if report.failed and is_first and isinstance(mkopo, Mkopo) and call.when != "setup":
        item.stash[_HAS_FAILED] = True
        report.sections.append(("What the portal knew", _told(mkopo, item)))
    return report


def _told(mkopo: Mkopo, item: pytest.Item) -> str:
    try:
        text = what_happened(mkopo)
    except Exception as error:
        text = f"It could not be asked: {error}"
    sandboxes: _Sandboxes = item.funcargs["_sandboxes"]  # type: ignore[attr-defined]
    if sandboxes.end_with_the_run:
        kept = "It ended with the portal of this run; with MKOPO_URL set, it would have been kept."
    else:
        kept = f"It is kept: {mkopo.sandbox.url}, console {mkopo.sandbox.console_url or 'off'}"
    return f"{text}\n{kept}\n{_kept_evidence(mkopo, item.name, sandboxes.folders)}"


def _kept_evidence(mkopo: Mkopo, test: str, folders: pytest.TempPathFactory) -> str:
    """Write what happened to a file, and say which."""
    try:
        text = json.dumps(mkopo.evidence(), ensure_ascii=False, indent=2)
    except Exception as error:
        return f"There is no evidence: {error}"
    file = folders.mktemp(re.sub(r"\W", "_", test)[:30]) / "evidence.json"
    file.write_text(text, encoding="utf-8")
    return f"The evidence, for `mkopo replay`: {file}"


def _unaccounted(mkopo: Mkopo) -> str | None:
    """Return what is wrong with the money, if anything is."""
    try:
        invariant = mkopo.invariant()
    except Exception as error:
        return f"It could not be checked that every shilling is accounted for: {error}"
    return None if invariant["ok"] else f"Not every shilling is accounted for: {invariant}"


def _given_addresses() -> Addresses | None:
    """Return the portal that the environment names, if it does."""
    url = os.environ.get("MKOPO_URL")
    if not url:
        return None
    console, token = os.environ.get("MKOPO_CONSOLE_URL"), os.environ.get("MKOPO_CONSOLE_TOKEN")
    if not console or not token:
        raise RuntimeError("MKOPO_URL is set; set MKOPO_CONSOLE_URL and MKOPO_CONSOLE_TOKEN too.")
    return Addresses(_origin(url), _origin(console), token)


def _origin(address: str) -> str:
    """Return the address without a path, such as that of the console's pages."""
    return "/".join(address.split("/")[:3])


def _start(config: pytest.Config) -> Addresses:
    addresses, config.stash[_STOP] = start_portal()
    return addresses


def pytest_unconfigure(config: pytest.Config) -> None:
    stop = config.stash.get(_STOP, None)
    if stop:
        stop()


class _ForWorkers:
    """Starts one portal for all workers of pytest-xdist."""

    def __init__(self) -> None:
        self._told: dict[str, str] | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: WorkerController) -> None:
        if self._told is None:
            self._told = self._start(node.config)
        node.workerinput.update(self._told)

    def _start(self, config: pytest.Config) -> dict[str, str]:
        if os.environ.get("MKOPO_URL"):
            return {}
        try:
            addresses = _start(config)
        except Exception as error:
            return {_FAILURE: str(error)}
        return {
            _URL: addresses.url,
            _CONSOLE_URL: addresses.console_url,
            _TOKEN: addresses.console_token,
        }


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.register(_ForWorkers(), "mkopo-test-for-workers")
