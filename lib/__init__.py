"""The shared package of the course: every notebook imports from here, nothing here knows of notebooks.

Layers, each importing only from those above it:

1. `attention`, `losses`, `tokenizer`, `corpus`, `porttinari`, and what is small enough to check by hand:
   `information`, `masking_mistakes`, `rounding`
2. `encoder`, `parameters`, `corruption`
3. `heads`, `weights`, `fast`, `generation`, `training` (with `checkpoint` and the command `pretrain`),
   `geometry`, and the experiments of the chapters: `attention_patterns`, `free_running`, `two_hops`, ...
4. `sources`: what the source documents print, and the comparison with what is computed
5. `plots`, `widgets`, `quizzes`, `exercises`
"""
