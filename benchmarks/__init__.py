"""What was measured: speed beside Hugging Face transformers, distance to the exact floor, tagging, scaling.

Each program keeps one JSON file of raw values with their provenance; its Markdown is made of that alone, by
`report`. `--quick` only proves that a program runs, at sizes whose figures mean nothing, and keeps nothing.
No test asserts a time.
"""
