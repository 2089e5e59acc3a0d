import pytest

from d2lpos.lab import speeds


def test_another_contest():
    with pytest.raises(ValueError, match=r"^contest must be one of alibi, .*training; got 'chess'$"):
        speeds("chess")


def test_another_device():
    with pytest.raises(ValueError, match=r"^device must be one that something is published for; got 'gpu'$"):
        speeds("t5", device="gpu")
