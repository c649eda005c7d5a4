"""Exercises of the course: a checker for each, which says which mistake an answer looks like.

- `chapter_01` to `chapter_05`: the checkers, called as `check_causal_mask(minha_mascara)`;
- `trials`, `student`, `values`: what they share (drawing inputs, asking with care, comparing);
- `isolation`, `calling`, `tracing`: the process in which an answer runs, and what it tells of it;
- `texts`, `solutions`, read by `catalogue`: what the notebooks show;
- `project`: the rubric of the final project;
- `sandbox`, with `worker` and `outline` inside it, `answers`, `grading`, `classes`, `pages`:
  `python -m lib.exercises grade FOLDER` over the notebooks of a class.
"""
