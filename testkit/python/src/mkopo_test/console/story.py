"""The story that a sandbox tells."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mkopo_test.console.verbs import Verbs
from mkopo_test.words import seconds

if TYPE_CHECKING:
    import httpx

    from mkopo_test.contract import ToldStep, ToldStory

# The interval between two checks whether a step is done, in seconds.
_POLL_INTERVAL_S = 0.1


class Story(Verbs):
    """The story that the sandbox tells."""

    def __init__(self, console: httpx.Client) -> None:
        super().__init__(console)
        # The number of steps that `next` has returned.
        self._returned = 0

    def steps(self) -> list[ToldStep]:
        """Return all steps, in order."""
        return self._told()["steps"]

    def next(self, *, wait: str = "20s") -> ToldStep:
        """Do the act of the next step, if any, and wait until it is done: each is returned once, in order."""
        deadline = time.monotonic() + seconds(wait)
        story = self._told()
        index = self._next_of(story)
        if index == len(story["steps"]):
            raise AssertionError(f"All steps of {story['name']} are done")
        step = story["steps"][index]
        # Without an act of its own, the act of the step that follows could be done too early.
        if step["act"] and step["state"] == "next":
            step = self._ask("POST", "story/next")["steps"][index]
        while step["state"] != "done":
            if time.monotonic() >= deadline:
                raise AssertionError(
                    f"Step {index + 1} of {story['name']} was not done within {wait}: {step['say']}\n"
                    f"Expected: {' '.join(step['expected'])}\nFound: {' '.join(step['found'])}"
                )
            time.sleep(_POLL_INTERVAL_S)
            step = self.steps()[index]
        self._returned = index + 1
        return step

    def end(self, *, wait: str = "20s") -> None:
        """Go on until all steps are done, and wait for each as `next` does."""
        while self._next_of(story := self._told()) < len(story["steps"]):
            self.next(wait=wait)

    def _next_of(self, story: ToldStory) -> int:
        """Return the index of the step to return next."""
        # A snapshot may have taken the story back.
        return min(self._returned, sum(step["state"] == "done" for step in story["steps"]))

    def _told(self) -> ToldStory:
        return self._ask("GET", "story")
