"""Speed, measured side by side with Hugging Face transformers in one interleaved run.

`python -m benchmarks` runs everything and writes RESULTS.md and RESULTS.png; `--quick` only proves that it
runs, at sizes whose figures mean nothing, and writes nothing. No test asserts a time.
"""
