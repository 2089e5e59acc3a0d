"""What several exercises of this chapter ask about."""

import torch

BY_ACCIDENT = torch.arange(1.0, 25.0).reshape(4, 2, 3)
