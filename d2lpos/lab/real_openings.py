"""Sinks in passages of SmolLM2 that begin without a heading: once without their first line, and once 5,000 characters on.

Decided before the runs, which compute in bfloat16 on 256 tokens: five passages of either novel and of code. The chapters
without their first line had been tried before, off the record, and there most passages of novels made another sink; nobody had
read anything from further on. Of these sentences each falls by what stands behind it, in either way to begin:
1. A token that sees itself alone becomes a sink: refuted if one of 14 gets less than 0.1 in any passage.
2. Without a heading something else makes a sink in novels, too: refuted unless one of tokens 0 to 155 gets more than 0.1 on six
   of ten passages of novels or more, under mask (b), and under mask (c).
3. In novels the second token takes over under mask (e) because of the heading: refuted if it gets more than 0.1 on three of ten
   passages of novels or more.
4. Any of twelve first words will do where the next token does not repeat it: refuted if one that it does not repeat gets less
   than 0.8 of the median word's share in any passage of any text.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from ..positions.arguments import check_name
from ..pretrained.smollm2 import SmolLM2
from ..transformer.masks import causal_mask
from .passages import passage
from .probe import LONGEST, Probe, encoder, loaded
from .real import decoded
from .real_inside import LATE, WORDS, masks, rounded, sinks, weighed

__all__ = ["begun", "openings"]

AFTER = {"without its first line": 0, "from further on": 5000}  # characters; the next line begins the passage
LINE = 5000  # characters that a line has at most


def begun(probe: Probe) -> Tensor:
    """The tokens of a passage (1, length) from a later line on, as the probe's part says; lines are never empty there.

    Raises ValueError for another part, and where the text ends before.

    >>> begun(Probe("real-openings", "without its first line", model="stand-in", length=5)).tolist()
    [[83, 105, 114, 32, 87]]
    """
    check_name("part", probe.part, AFTER)
    after = AFTER[probe.part]
    text = passage(probe.text, probe.seed, after + LINE + LONGEST * probe.length)
    ids = encoder(probe.model)(text[text.index("\n", after) :].lstrip("\n"))[: probe.length]
    if len(ids) < probe.length:
        raise ValueError(f"passage {probe.seed} of {probe.text} has {len(ids)} tokens left; got {probe.length}")
    return torch.tensor([ids])


def openings(probe: Probe, device: str) -> list[dict]:
    """How a passage begins, which token gets most under each mask, and all that `sinks` tells of it.

    repeats: those of WORDS whose token the second one is. at, share: of tokens 0 to 155 the one with the largest share of the
    last 100 queries' weight; usual: what it has under the usual mask.
    """
    model, text = loaded(probe.model, probe.dtype, device), begun(probe).to(device)
    encode, ids = encoder(probe.model), text[0].tolist()
    again = [word for word in WORDS if encode(word)[0] == ids[1]]
    rows = [{"case": "begins", "words": [decoded(probe.model, [one]) for one in ids[:3]], "repeats": again}]
    return [*rows, *heaviest(model, text, probe.model), *sinks(model, text, probe)]


def heaviest(model: SmolLM2, text: Tensor, name: str) -> Iterator[dict]:
    n = text.shape[1]
    here, late = torch.arange(n, device=text.device), LATE * n // 256

    def shares(mask: Tensor) -> Tensor:
        return weighed(model, text, here, mask, slice(late, None))[0][0, :late]

    usual = shares(causal_mask(here, here))
    for case, mask in masks(n, text.device).items():
        by_token = shares(mask)
        at = int(by_token.argmax())
        row = {"share": rounded(by_token[at]), "usual": rounded(usual[at]), "second": rounded(by_token[1])}
        yield {"case": f"most: {case}", "at": at, "word": decoded(name, [int(text[0, at])])} | row
