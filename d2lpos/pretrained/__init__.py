"""What the configuration of a trained model says about position.

`encoding_of` reads a `config.json` of the Hugging Face Hub, and nothing is downloaded or run for it. What it does not
understand it refuses by name, because a wrong encoding raises no error: the model only writes worse.
"""

from .layer import Layer, Reading
from .reading import encoding_of

__all__ = ["Layer", "Reading", "encoding_of"]
