"""The shared package of the course: every notebook imports from here, nothing here knows of notebooks.

Layers, each importing only from those above it:

1. `require`, the errors that name an argument; `dropout`, `attention`, `losses`, `tokenizer`, `corpus`,
   `porttinari`, and what is small enough to check by hand: `information`, `masking_mistakes`, `rounding`
2. `encoder`, `parameters`, `corruption`
3. `heads`, `weights`, `fast`, `generation`, `training` (with `checkpoint` and the command `pretrain`),
   `geometry`, and the experiments of the chapters: `attention_patterns`, `free_running`, `two_hops`, ...
4. `sources`: what the source documents print, and the comparison with what is computed
5. `plots`, `widgets`, `quizzes`, `exercises`
"""

import os

# Some virtual machines announce Intel's AMX and then cannot execute it: the first larger product in bfloat16
# ends the process. oneDNN without AMX is safe there, and the same to the last bit in float32.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
