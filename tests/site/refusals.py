"""Browsers that keep nothing: a script that makes one, and what the book says of it."""

import pytest

OFF = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('', 'SecurityError'); }})"
FULL = "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); }"
REFUSALS = pytest.mark.parametrize(
    ("storage", "why"), [(OFF, "its storage is off"), (FULL, "its storage is full")], ids=["off", "full"]
)
