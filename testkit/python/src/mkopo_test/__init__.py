"""Tests of the Mkopo portal: a sandbox for each worker, and verbs for all that its console can do."""

from mkopo_test.call_failed import CallFailed
from mkopo_test.mkopo import Addresses, Mkopo, Portal, Sandbox, Start
from mkopo_test.start_portal import start_portal
from mkopo_test.version import VERSION
from mkopo_test.words import PASSWORD

__all__ = [
    "PASSWORD",
    "VERSION",
    "Addresses",
    "CallFailed",
    "Mkopo",
    "Portal",
    "Sandbox",
    "Start",
    "start_portal",
]
