"""The shared package of the course: every notebook imports from here, nothing here knows of notebooks.

Layers, each importing only from those above it:

1. `attention`, `losses`, `tokenizer`, `corpus`
2. `encoder`, `corruption`
3. `heads`, `training`, `geometry`
4. `sources`
5. `plots`, `widgets`, `exercises`
"""
