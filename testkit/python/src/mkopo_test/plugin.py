"""The fixtures `mkopo` and `sandbox`, and the report of a test that failed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pytest

from mkopo_test.call_failed import CallFailed
from mkopo_test.mkopo import Addresses, Mkopo, Portal, Sandbox, Start
from mkopo_test.start_portal import start_portal
from mkopo_test.what_happened import what_happened

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from datetime import datetime

    from xdist.workermanage import WorkerController  # type: ignore[import-untyped]

_PLACE = pytest.StashKey["_Place"]()
_SANDBOXES = pytest.StashKey["_Sandboxes"]()
_STOP = pytest.StashKey[Callable[[], None]]()

# The code of a failed call to a sandbox that does not exist.
_GONE = "sandbox_not_found"

# The keys of the values that the controller of pytest-xdist passes to its workers.
_URL, _CONSOLE_URL, _TOKEN, _FAILURE = "mkopo_url", "mkopo_console_url", "mkopo_token", "mkopo_failure"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "mkopo(sandbox_per='worker', seed=1, now=None, frozen=False, settings=None, check_invariant=True): "
        "the sandbox of a test: one for each worker, reset before each test, one for each test, or none, "
        "so that tests share the portal itself, which is reset before each; what it starts with; settings "
        "of a portal that is started for the test; and whether every shilling must be accounted for after it",
    )
    config.addinivalue_line("markers", "story(name): a test has a sandbox of its own, which tells this story")


@dataclass
class _Place:
    """The sandbox or the portal that a test uses."""

    mkopo: Mkopo
    whereabouts: str
    """Where it is after a failure."""
    has_failed: bool = False


class _Sandboxes:
    """The sandboxes of one worker."""

    def __init__(
        self, addresses: Callable[[], Addresses], folders: pytest.TempPathFactory, *, end_with_the_run: bool
    ) -> None:
        self.folders = folders
        self.in_use = ExitStack()
        """Takes back what the test that runs uses."""
        self._end_with_the_run = end_with_the_run
        self._addresses = addresses
        self._connected: Portal | None = None
        # Where the clocks of this worker start if a test does not say it.
        self._now = Start().exact().now
        self._of_worker: Mkopo | None = None
        # What failed tests of this worker have kept, the oldest first.
        self._kept: list[Mkopo] = []

    @property
    def _portal(self) -> Portal:
        """The portal of this run, which is started when the first test needs it."""
        self._connected = self._connected or Portal(self._addresses())
        return self._connected

    def get(self, per: str, start: Start, story: str | None) -> Mkopo:
        """Return a sandbox at its start, or at that of a story."""
        if story is not None:
            return self._make(None, story)
        if per == "none":
            main = self._portal.main()
            main.reset(start)
            return main
        known = Start(start.seed, start.now or self._now, start.frozen)
        if per == "test":
            return self._make(known)
        if self._of_worker:
            try:
                self._of_worker.reset(known)
            except CallFailed as failed:
                if failed.code != _GONE:
                    raise
                self._of_worker = None
        self._of_worker = self._of_worker or self._make(known)
        return self._of_worker

    def whereabouts(self, sandbox: Sandbox) -> str:
        """Return where a sandbox is after a failure."""
        if sandbox.name == "main":
            return "It is the portal itself, which the next test resets."
        if self._end_with_the_run:
            return "It ended with the test; with MKOPO_URL set, it would have been kept."
        where = f"{sandbox.url}, console {sandbox.console_url or 'off'}"
        return f"It is kept for 24 hours, or until a later test needs its place: {where}"

    def give_back(self, mkopo: Mkopo, *, has_failed: bool) -> None:
        """Take the sandbox back from a test; after a failure, it is kept as it is if its portal is, too."""
        if mkopo.sandbox.name == "main":
            return
        if mkopo is self._of_worker:
            if not has_failed:
                return
            self._of_worker = None
        if has_failed and not self._end_with_the_run:
            self._kept.append(mkopo)
        else:
            self._remove(mkopo)

    def end(self) -> None:
        """Take back what an interrupted test uses, and remove the sandbox of the worker."""
        self.in_use.close()
        if self._of_worker:
            self._remove(self._of_worker)

    def _make(self, start: Start | None, story: str | None = None) -> Mkopo:
        """Make a sandbox, in the place of those that were kept if there is no other."""
        while True:
            try:
                return self._portal.make_sandbox(start, story=story)
            except CallFailed as failed:
                if failed.code != "too_many_sandboxes" or not self._kept:
                    raise
                self._remove(self._kept.pop(0))

    def _remove(self, mkopo: Mkopo) -> None:
        """Remove a sandbox, which may have been removed already."""
        try:
            self._portal.remove_sandbox(mkopo.sandbox.name)
        except CallFailed as failed:
            if failed.code != _GONE:
                raise


@pytest.fixture(scope="session")
def _sandboxes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> _Sandboxes:
    config = request.config
    told: dict[str, Any] = getattr(config, "workerinput", {})
    given = _given_addresses()

    def addresses() -> Addresses:
        if _FAILURE in told:
            raise RuntimeError(told[_FAILURE])
        if _URL in told:
            return Addresses(told[_URL], told[_CONSOLE_URL], told[_TOKEN])
        return given or _start(config)

    sandboxes = _Sandboxes(addresses, tmp_path_factory, end_with_the_run=given is None)
    config.stash[_SANDBOXES] = sandboxes
    return sandboxes


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    try:
        return (yield)
    finally:
        sandboxes = session.config.stash.get(_SANDBOXES, None)
        if sandboxes:
            # If the portal no longer answers, its sandboxes expire by themselves.
            with suppress(CallFailed):
                sandboxes.end()


@pytest.fixture
def mkopo(request: pytest.FixtureRequest, _sandboxes: _Sandboxes) -> Iterator[Mkopo]:
    """Return the sandbox of this test, as it was made, with verbs for all that its console can do."""
    item = request.node
    options = _options_of(item)
    wanted = _Wanted(story=_story_of(item, options), **options)
    # The report of the teardown takes it back: after this one, other fixtures may still fail.
    item.stash[_PLACE] = place = _sandboxes.in_use.enter_context(_place(wanted, _sandboxes))
    yield place.mkopo
    problem = _unaccounted(place.mkopo) if wanted.check_invariant else None
    if problem:
        raise AssertionError(problem)


@contextmanager
def _place(wanted: _Wanted, sandboxes: _Sandboxes) -> Iterator[_Place]:
    """Yield the sandbox or the portal that a test uses; take it back or stop it after the test."""
    if wanted.settings is None:
        mkopo = sandboxes.get(wanted.sandbox_per, wanted.start, wanted.story)
        place = _Place(mkopo, sandboxes.whereabouts(mkopo.sandbox))
        yield place
        sandboxes.give_back(mkopo, has_failed=place.has_failed)
        return
    addresses, stop = start_portal(wanted.settings)
    try:
        portal = Portal(addresses)
        mkopo = portal.main() if wanted.story is None else portal.make_sandbox(story=wanted.story)
        if wanted.start != Start():
            mkopo.reset(wanted.start)
        yield _Place(mkopo, "It ended with the test.")
    finally:
        stop()


@pytest.fixture
def sandbox(mkopo: Mkopo) -> Sandbox:
    """Return the name, the addresses and the token of the sandbox of this test."""
    return mkopo.sandbox


def _options_of(item: pytest.Item) -> dict[str, Any]:
    """Return the arguments of the markers `mkopo` together; of two, the one closest to the test applies."""
    options: dict[str, Any] = {}
    for marker in item.iter_markers("mkopo"):
        if marker.args:
            raise TypeError("The marker mkopo takes its arguments by name, such as mkopo(seed=7)")
        options = {**marker.kwargs, **options}
    return options


def _story_of(item: pytest.Item, options: dict[str, Any]) -> str | None:
    """Return what the marker `story` names; fail if it is combined with what no story allows."""
    marker = item.get_closest_marker("story")
    if not marker:
        return None
    if options.keys() & {"seed", "now", "frozen"}:
        raise ValueError("A story says what the sandbox starts with: leave out seed, now and frozen")
    if options.get("sandbox_per") == "none":
        raise ValueError('Only a sandbox tells a story: leave out sandbox_per="none"')
    if len(marker.args) != 1 or marker.kwargs:
        raise TypeError('The marker story takes the name of a story alone, such as story("lost-answer")')
    return str(marker.args[0])


@dataclass(kw_only=True)
class _Wanted:
    """The arguments of the markers `story` and `mkopo`."""

    story: str | None
    sandbox_per: str = "worker"
    check_invariant: bool = True
    seed: int | Literal["empty"] = 1
    now: datetime | str | None = None
    frozen: bool = False
    settings: dict[str, str] | None = None

    def __post_init__(self) -> None:
        if self.sandbox_per not in ("worker", "test", "none"):
            raise ValueError(f"sandbox_per is {self.sandbox_per!r}, and must be 'worker', 'test' or 'none'")
        self.start = Start(self.seed, self.now, self.frozen)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to the first report of a failure what the portal knows; take the sandbox back after the last."""
    report = yield
    place = item.stash.get(_PLACE, None)
    if not place:
        return report
    sandboxes = item.config.stash[_SANDBOXES]
    if report.failed and not place.has_failed:
        place.has_failed = True
        report.sections.append(("What the portal knew", _told(place, item.name, sandboxes.folders)))
    if call.when == "teardown":
        # The test may run again.
        del item.stash[_PLACE]
        try:
            sandboxes.in_use.close()
        except Exception as error:
            if report.passed:
                report.outcome, report.longrepr = "failed", f"The sandbox could not be taken back: {error}"
    return report


def _told(place: _Place, test: str, folders: pytest.TempPathFactory) -> str:
    try:
        text = what_happened(place.mkopo)
    except Exception as error:
        text = f"It could not be asked: {error}"
    return f"{text}\n{place.whereabouts}\n{_kept_calls(place.mkopo, test, folders)}"


def _kept_calls(mkopo: Mkopo, test: str, folders: pytest.TempPathFactory) -> str:
    """Write all calls to a file, and say which."""
    try:
        text = json.dumps(mkopo.traffic.har(), ensure_ascii=False, indent=2)
    except Exception as error:
        return f"There is no HAR file: {error}"
    file = folders.mktemp(re.sub(r"\W", "_", test)[:30]) / "traffic.har"
    file.write_text(text, encoding="utf-8")
    return f"All calls, for the network panel of a browser: {file}"


def _unaccounted(mkopo: Mkopo) -> str | None:
    """Return the failure to report unless every shilling is known to be accounted for."""
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
    return Addresses(url, console, token)


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
