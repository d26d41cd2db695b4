"""The state of a sandbox after a test, for the report of a failure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from mkopo_test.call_failed import if_allowed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mkopo_test.contract import Call, DisbursementRecord, Fault, Invariant, OutboxMessage
    from mkopo_test.mkopo import Mkopo

_T = TypeVar("_T")

# The maximum number of entries of each list that are shown.
_LATEST = 50

# The longest body that is shown, in characters.
_MAX_BODY = 500

_REFUSED = 400


def what_happened(mkopo: Mkopo) -> str:
    """Return a sandbox's state as text: payouts since its start, calls, messages; codes and tokens masked."""
    clock = if_allowed(mkopo.clock.now)
    payouts = if_allowed(mkopo.payouts.since_start) or []
    calls = mkopo.traffic.calls()
    messages = if_allowed(mkopo.outbox.messages) or []
    scenario = if_allowed(mkopo.mobile_money.behaviour)
    invariant = if_allowed(mkopo.invariant)
    faults = [fault for fault in mkopo.faults.list() if _applies(fault)]
    sandbox = mkopo.sandbox
    lines = [
        f"The sandbox {sandbox.name}{f' at {clock.isoformat()}' if clock else ''}; "
        f"{sandbox.url}, console {sandbox.console_url or 'off'}",
        *_list("Payouts", payouts, _line_of_payout),
        *_list("Calls", calls, _line_of_call),
        *_line_of_trace(sandbox.console_url, calls),
        *_list("Messages", messages, _line_of_message),
        *_list("Faults that still apply", faults, json.dumps),
        *_list("Outcomes that are still queued", scenario["next"] if scenario else [], str),
        *([_line_of_invariant(invariant)] if invariant else []),
    ]
    text = "\n".join(lines)
    for secret in [*(message["code"] for message in messages), sandbox.token]:
        if secret:
            text = text.replace(secret, "•" * 6)
    return text


def _list(title: str, newest_first: Sequence[_T], line: Callable[[_T], str]) -> list[str]:
    """Return the latest of a list, oldest first; nothing for an empty list."""
    if not newest_first:
        return []
    shown = list(reversed(newest_first[:_LATEST]))
    left = len(newest_first) - len(shown)
    latest = f", the latest {_LATEST} of {len(newest_first)}" if left else ""
    return [f"{title}{latest}:", *(f"  {line(one)}" for one in shown)]


def _applies(fault: Fault) -> bool:
    """Return whether the fault can hit another call."""
    return fault["times"] is None or fault["hits"] < fault["times"]


def _line_of_payout(payout: DisbursementRecord) -> str:
    details = " ".join(filter(None, [payout["mpesa_ref"], payout["error_message"]]))
    facts = [payout["created_at"], payout["loan_id"], payout["status"], f"KES {payout['amount']}"]
    return "  ".join([*facts, f"by {payout['user_email']}", details]).rstrip()


def _line_of_call(call: Call) -> str:
    user, fault = call["user"], call["fault"]
    # A call that a fault kept from the service has no user, signed in or not.
    last = [user, f"fault: {fault}"] if fault else [user or "signed out"]
    status = str(call["status"] or "no response")
    facts = [call["at"], f"{call['method']} {call['path']}", status, f"{call['ms']} ms", *last]
    line = "  ".join(filter(None, facts))
    if _is_good(call):
        return line
    sent, got = _body(call["request_body"]), _body(call["response_body"])
    return f"{line}\n      sent {sent}\n      got  {got}"


def _line_of_trace(console_url: str | None, newest_first: Sequence[Call]) -> list[str]:
    """Return where the trace of the last call that failed is, or else of the last that sent data."""
    failed = [call for call in newest_first if not _is_good(call)]
    sent = [call for call in newest_first if call["method"] != "GET"]
    if not console_url or not (failed or sent):
        return []
    return [f"Trace: {console_url}/traces?id={quote((failed or sent)[0]['request_id'])}"]


def _is_good(call: Call) -> bool:
    return call["status"] is not None and call["status"] < _REFUSED and not call["fault"]


def _line_of_invariant(invariant: Invariant) -> str:
    return (
        "Every shilling is accounted for."
        if invariant["ok"]
        else f"NOT ACCOUNTED FOR: {json.dumps(invariant)}"
    )


def _line_of_message(message: OutboxMessage) -> str:
    words = ": ".join(filter(None, [message["subject"], message["body"]]))
    text = " ".join(words.split())[:_MAX_BODY]
    return f"{message['created_at']}  {message['channel']} to {message['to']}  {text}"


def _body(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_BODY else f"{text[:_MAX_BODY]}…"
