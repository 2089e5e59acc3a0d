"""A lead in a crowd."""

import math

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call


def leader(lead: float, keys: Tensor, scale: float) -> Tensor:
    return torch.sigmoid(scale * lead * keys.log() - (keys - 1).log())


def lead_case(lead: float, keys: list[int], scale: float) -> Case:
    return call(lead=lead, keys=torch.tensor(keys), scale=scale)


def softmax_by_hand(lead, keys, scale):
    mine = torch.exp(scale * lead * torch.log(keys))
    return mine / (mine + keys - 1)


weight = Check(
    "weight",
    reference=leader,
    properties={
        "few keys: the leader's weight among keys − 1 others": [
            lead_case(1.0, [2, 3, 4], 1.0), lead_case(2.0, [*range(2, 20)], 0.5), lead_case(0.0, [2, 3, 4], 1.0),
            lead_case(3.0, [32, 2, 1000], 0.25), lead_case(1.75, [4, 10, 100], 0.5),
        ],
        "up to 10¹² keys, and numbers that stay finite": [
            lead_case(1.0, [10**6, 10**12], 1.0), lead_case(2.0, [10**6, 10**12], 0.45),
            lead_case(40.0, [10**11, 10**12], 1.0),
        ],
        "one key gets all": [lead_case(1.0, [1, 10**10], 1.0)],
    },
    mistakes={
        "The scores are multiplied by scale · ln(keys), not by scale alone.":
            "scale * lead * keys.log() → scale * lead",
        "Nothing is scaled: this is the weight at lead as it is.": "scale * lead * keys.log() → lead",
        "The leader leads keys − 1 others, not so many as there are keys.": "(keys - 1).log() → keys.log()",
        "The sum below has the leader's own part, too.": lambda lead, keys, scale:
            (scale * lead * keys.double().log()).exp() / (keys - 1),
        "This is what all others have together.": lambda lead, keys, scale: 1 - leader(lead, keys, scale),
        "The factor multiplies the scores, before the softmax. Here it multiplies a weight.":
            lambda lead, keys, scale: scale * keys.log() * torch.sigmoid(lead - (keys - 1).log()),
        "exp overflows, and inf/inf is nan. Stay with logarithms up to the end: a sigmoid.": softmax_by_hand,
    },
    answers=(Answer("least_lead", math.log(32), within=0.01, mistakes={
        "This is the scale. What is it to be multiplied with?": 1 / math.log(32),
        "So much is enough under the scale 1.": 1.0,
        "This is a number of tokens. A lead is in nats.": 32,
        "ln is the natural logarithm.": lambda lead: min(abs(lead - 5), abs(lead - 1.505)) < 0.01,
        "It has a lead. Under which does the weight fall below a half, if there are enough keys?": 0,
    }),),
    cards=(softmax_by_hand,),
)
