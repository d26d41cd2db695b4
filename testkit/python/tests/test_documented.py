from __future__ import annotations

import re
from pathlib import Path

_ROOT = Path(__file__).parents[3]


def _sample_of(page: str) -> str:
    """Return the test of a page, exactly as written."""
    found = re.search(r"```python\n(import pytest\n.*?)```", (_ROOT / page).read_text(), re.DOTALL)
    assert found
    return found.group(1)


_SAMPLE = _sample_of("docs/testing.md")

exec(_SAMPLE, globals())


def test_the_page_of_the_package_has_the_same_test() -> None:
    assert "test_a_refused_payout_can_be_tried_again" in globals()
    assert _sample_of("testkit/python/README.md") == _SAMPLE
