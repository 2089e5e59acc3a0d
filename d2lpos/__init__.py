"""Positional encodings in Transformers."""
