"""Waiting for a condition, with a deadline. The only place where a test waits without a reason."""

import time


def until(condition, seconds=10.0, what="the condition"):
    """Polls until `condition()` is true and returns its value. Exceptions count as false."""
    deadline = time.monotonic() + seconds
    error = None
    while True:
        try:
            value = condition()
            if value:
                return value
            error = None
        except Exception as caught:  # noqa: BLE001: whatever is not there yet
            error = caught
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come within {seconds} s ({error or 'false'})")
        time.sleep(0.01)


def stays(condition, seconds, what="the condition"):
    """Asserts that `condition()` is true all the time for that long."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert condition(), f"{what} did not hold"
        time.sleep(0.02)
