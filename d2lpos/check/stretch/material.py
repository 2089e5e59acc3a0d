"""What several exercises of this chapter ask about."""

import math

TURN = 2 * math.pi
