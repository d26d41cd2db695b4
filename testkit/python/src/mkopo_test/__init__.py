"""Tests of the Mkopo portal: a sandbox for each worker, and verbs for all that its console can do."""

from mkopo_test.call_failed import CallFailed
from mkopo_test.console.payouts import AnyLoan
from mkopo_test.console.sessions import LoanToPayOut, Session
from mkopo_test.contract import (
    Account,
    Call,
    Channel,
    Disbursement,
    DisbursementRecord,
    Event,
    EventKind,
    Fault,
    FaultKind,
    Invariant,
    LoanToApprove,
    NewFault,
    OutboxMessage,
    Outcome,
    PendingLoan,
    Role,
    Scenario,
    ScenarioChange,
    Snapshot,
    ToldStep,
)
from mkopo_test.mkopo import Addresses, Mkopo, Portal, Sandbox, Start
from mkopo_test.start_portal import start_portal
from mkopo_test.version import VERSION
from mkopo_test.words import PASSWORD

__all__ = [
    "PASSWORD",
    "VERSION",
    "Account",
    "Addresses",
    "AnyLoan",
    "Call",
    "CallFailed",
    "Channel",
    "Disbursement",
    "DisbursementRecord",
    "Event",
    "EventKind",
    "Fault",
    "FaultKind",
    "Invariant",
    "LoanToApprove",
    "LoanToPayOut",
    "Mkopo",
    "NewFault",
    "OutboxMessage",
    "Outcome",
    "PendingLoan",
    "Portal",
    "Role",
    "Sandbox",
    "Scenario",
    "ScenarioChange",
    "Session",
    "Snapshot",
    "Start",
    "ToldStep",
    "start_portal",
]
