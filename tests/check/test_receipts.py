"""What a reader gets for an exercise that is done."""

import re

from d2lpos.check.receipts import receipt
from tests.check.test_wrong_answers import CHECKS


def test_a_receipt_is_easy_to_type_and_names_one_exercise():
    receipts = [receipt(check.name) for check in CHECKS]
    assert len(set(receipts)) == len(receipts) >= 72
    assert all(re.fullmatch("[2-9A-HJ-NP-Z]{6}", one) for one in receipts)


def test_a_receipt_stays_the_same_since_readers_keep_theirs():
    assert receipt("attention") == "9BZJ9J"
