"""The shared package of the course: every notebook imports from here, nothing here knows of notebooks.

    vocabulary  tokens, ids, [CLS] A [SEP] B [SEP]     tokenizer   WordPiece, from text to ids
    attention   plain, masked, many heads, fused       encoder     from ids to hidden states
    heads       what stands on an encoder              losses      how surprised a model is, in nats
    corruption  masking for the MLM exercise           pairs       pairs for the next-sentence exercise
    presets, parameters                                published models: sizes, counts
    weights/    models in and out, as transformers has them     use  one call for each use of a model
    generation, geometry                               left to right; cosines and what they hide
    corpus/     the grammar with exact floors, and Porttinari
    training/   objectives, loop, checkpoints, fine-tuning
    commands/   `python -m lib`: train, fill, evaluate, fine-tune and export, from the terminal
    project/    the final project: data card, references, task, errors, model card
    models/     the course's own small models
    experiments/  what one chapter runs
    sources/    what the source documents print, and the comparison
    plots/ widgets/ quizzes/ exercises/                what the pages show and ask
    checks, numbers, files, progress, dropout          small things that the others share

Who may import whom is written in pyproject.toml and checked by `lint-imports`.
"""

import os

# Some virtual machines announce Intel's AMX and then cannot execute it: the first larger product in bfloat16
# ends the process. oneDNN without AMX is safe there, and the same to the last bit in float32.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
