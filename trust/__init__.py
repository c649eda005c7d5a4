"""The chain of trust: what makes a number in a book, a stored output or a table of results believable.

`execution` runs each notebook once and hands the result to every check; `tolerance` says how far a figure
that comes out of a training may differ between machines; `provenance` ties a measured number to the code, the
versions and the processor that gave it. Nothing here knows what the book is about.
"""
