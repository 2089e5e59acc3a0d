"""Two readings beside each other, in words and numbers: equal where what they say of positions is."""

import torch
from torch import nn

from d2lpos.pretrained import Layer, Reading


def facts(reading: Reading | None) -> tuple | None:
    """All that a reading says, but for its family's name and where its values came from."""
    if reading is None:
        return None
    layers = tuple(of_layer(layer) for layer in reading.layers)
    places = reading.places and reading.places(4, 6).tolist()
    return reading.causal, reading.first, of_encoding(reading.input), layers, facts(reading.encoder), places


def of_layer(layer: Layer) -> tuple:
    plain = {
        name: value
        for name, value in vars(layer).items()
        if name not in ("encoding", "indexer", "temperature")
    }
    grown = layer.temperature and layer.temperature(torch.tensor([0.0, 9e3, 1e5])).tolist()
    return of_encoding(layer.encoding), of_encoding(layer.indexer), grown, tuple(plain.items())


def of_encoding(encoding: nn.Module | None) -> tuple | None:
    """Its name and arguments, the shapes of its parameters, and where pairs turn, how fast."""
    if encoding is None:
        return None
    shapes = tuple((name, tuple(x.shape)) for name, x in encoding.named_parameters())
    own = [x.tolist() for x in encoding.buffers()]
    scaled = encoding.scaled() if hasattr(encoding, "scaled") else ()
    return repr(encoding), shapes, own, *(x.tolist() if isinstance(x, torch.Tensor) else x for x in scaled)
