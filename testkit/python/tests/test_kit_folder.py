from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

from mkopo_test import VERSION

if TYPE_CHECKING:
    from pathlib import Path

    from mkopo_test import Mkopo


def test_pip_finds_the_wheel_at_the_portal(mkopo: Mkopo, tmp_path: Path) -> None:
    links = f"{mkopo.portal.base_url}/kit/"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*command, "--find-links", links, "--target", str(tmp_path), "mkopo-test"], check=True)
    assert (tmp_path / "mkopo_test" / "py.typed").exists()
    assert (tmp_path / f"mkopo_test-{VERSION}.dist-info").exists()


def test_pip_does_not_take_the_package_for_playwright_for_its_own(mkopo: Mkopo) -> None:
    links = re.findall(r'<a href="(mkopo.test[^"]*)"', mkopo.portal.get("/kit/").text)
    assert sorted(links) == ["mkopo-test.tgz", f"mkopo_test-{VERSION}-py3-none-any.whl"]
