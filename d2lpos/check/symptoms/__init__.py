"""The checks of the page of symptoms: ten lines to mend."""

# ruff: noqa: I001 (in the order of the page)
from .mend import word_ids as word_ids
from .mend import next_id as next_id
from .mend import sees as sees
from .mend import behind as behind
from .mend import float_angles as float_angles
from .mend import flash_window as flash_window
from .mend import norm_and_turn as norm_and_turn
from .mend import sharpened as sharpened
from .mend import proportional as proportional
from .mend import line_by_line as line_by_line
