"""Door 3, the scores: a number for each offset and head."""

from .alibi import ALiBi, slopes
from .base import Bias, score_mod
from .beit import BEiT
from .decomposed import Decomposed
from .fire import FIRE, normalized_log_distance
from .kerple import KERPLE
from .sandwich import Sandwich
from .swin import Swin, relative_position_index
from .swin_v2 import SwinV2
from .t5 import T5Bias, bucket

__all__ = [
    "FIRE", "KERPLE", "ALiBi", "BEiT", "Bias", "Decomposed", "Sandwich", "Swin", "SwinV2", "T5Bias", "bucket",
    "normalized_log_distance", "relative_position_index", "score_mod", "slopes",
]
