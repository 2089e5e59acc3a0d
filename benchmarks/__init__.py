"""Speed, side by side with the libraries that people use, in one run: `python -m benchmarks`."""
