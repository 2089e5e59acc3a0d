"""Values that turn by position, so that an output tells how far away each key stands.

DeepSeek-V4, in transformers 5.23 (`DeepseekV4Attention`), where one tensor is key and value.
"""

from torch import Tensor

from ..positions.checks import signed
from ..positions.looks import Look, recall, remember
from .rope import RoPE

__all__ = ["RoPEValues"]


class RoPEValues(RoPE):
    """Doors 2 and 4: turns values, too, and turns each query's output back by its position.

    y_i = R(−i) Σ_j A_ij R(j) v_j = Σ_j A_ij R(j − i) v_j: each value arrives turned by its offset. So the output
    sees offsets only, as with RoPE, and carries them, as with Shaw's values, which add where these turn. An attention
    factor multiplies queries and keys alone. A cache keeps values as they are. Arguments and errors are those of
    `RoPE`; values have `dim` features a head.

    >>> RoPEValues(8).doors
    ('rotate', 'value')
    """

    def rotate_values(self, v: Tensor, k_positions: Tensor) -> Tensor:
        self.check_turned("v", v, k_positions, "k_positions")
        return self.rotate_further(v, k_positions)

    def unrotate_output(self, y: Tensor, q_positions: Tensor) -> Tensor:
        self.check_turned("y", y, q_positions, "q_positions")
        positions = signed("q_positions", q_positions)
        look = recall(positions)
        return self.rotate_further(y, remember(-positions, look and Look(-look.high, -look.low)))
