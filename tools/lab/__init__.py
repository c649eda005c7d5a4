"""The book in JupyterLab: the student's folder, written from the committed notebooks, and the server on it.

- `myst`: a page's Markdown, read into its parts;
- `numbers`: what the book calls each label, and where it stands;
- `citations`: authors and years, and the page of references;
- `plain`: a page's parts as Markdown that JupyterLab shows without an extension;
- `notebooks`: whole pages, and the one that a student starts at;
- `folder`: what is put where without touching what she changed;
- `server`: JupyterLab in Portuguese, for this folder alone.
"""
