"""Exercises of the course: a checker for each, which says which mistake an answer looks like.

- `chapter_01` to `chapter_05`: the checkers, called as `check_causal_mask(mascara_causal)`;
- `trials`, `student`, `values`: what they share (drawing inputs, asking with care, comparing);
- `isolation`, `calling`, `tracing`: the process in which an answer runs, and what it tells of it;
- `workshop`: the student's own BERT, kept from accepted answers; `finish`, `departures`: what it is put to;
- `texts`, `solutions`, read by `catalogue`: what the notebooks show;
- `project`: the rubric of the final project;
- `sandbox`, with `worker` and `outline` inside it, `answers`, `grading`, `classes`, `pages`:
  `python -m lib.exercises grade FOLDER` over the notebooks of a class.
"""
