from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from mkopo_test import Mkopo

# Of both kits.
STORIES = Path(__file__).parents[2] / "stories"


@pytest.mark.story("lost-answer")
def test_a_story_of_the_product_is_told_to_its_end(mkopo: Mkopo) -> None:
    agent = mkopo.sessions.open("agent")
    amina = next(loan for loan in agent.pending_loans() if loan["loan_id"] == "LN-AMINA")
    assert agent.pay_out(amina)["status"] == "PENDING"
    assert mkopo.story.next()["act"] is None
    assert mkopo.story.next()["act"] == "Set the clock."
    assert [payout["status"] for payout in mkopo.payouts.list(loan=amina)] == ["COMPLETED"]
    mkopo.story.end()
    assert [step["state"] for step in mkopo.story.steps()] == ["done"] * 3
    with pytest.raises(AssertionError, match="All steps of lost-answer are done"):
        mkopo.story.next()
    with pytest.raises(RuntimeError, match="A reset ends the story"):
        mkopo.reset()


@pytest.mark.story("lost-answer")
def test_a_story_does_not_go_on_while_something_else_is_found(mkopo: Mkopo) -> None:
    with pytest.raises(AssertionError) as failed:
        mkopo.story.next(wait="1s")
    assert re.fullmatch(
        r"Step 1 of lost-answer was not done within 1s: Pay the loan of Amina out\. .*\n"
        r"Expected: The latest record of loan LN-AMINA is PENDING\.\n"
        r"Found: Loan LN-AMINA has no record\.",
        str(failed.value),
    )
    assert mkopo.story.steps()[0]["state"] == "next"


@pytest.mark.story("grace")
@pytest.mark.mkopo(settings={"MKOPO_STORIES": str(STORIES)})
def test_a_story_of_a_folder_is_told_in_a_portal_with_settings(mkopo: Mkopo) -> None:
    grace = mkopo.sessions.open("grace@example.com")
    mkopo.story.end()
    assert [loan["loan_id"] for loan in grace.pending_loans()] == ["LN-GRACE"]
