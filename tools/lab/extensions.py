"""JupyterLab's own code for widgets, made patient: on a slow or busy machine a widget is late, not broken.

Two of its extensions hurry. What is served to a student are copies of them, each with one expression changed.
"""

import shutil
from pathlib import Path

from jupyter_core.paths import jupyter_path

# Of each extension, what its scripts say and what ours say instead.
CHANGES = {
    # A widget that was not ready within two seconds was called broken, and was not drawn.
    "anywidget": ("AbortSignal.timeout(2000)", "new AbortController().signal"),
    # A kernel that got ready while the widgets of the notebook were still being read ended that: those not
    # read yet had no model, and said so for good. It restores them again only once that has ended.
    "@jupyter-widgets/jupyterlab-manager": (
        '"connected"!==e||this._kernelRestoreInProgress||this.restoreWidgets(this._context.model',
        '"connected"!==e||!this._restoredStatus||this._kernelRestoreInProgress'
        "||this.restoreWidgets(this._context.model",
    ),
}


def copy_patient(into: Path) -> None:
    """Write the copies, for JupyterLab to take in place of what is installed."""
    for name, (hurry, patience) in CHANGES.items():
        source = next(
            path for folder in jupyter_path("labextensions") if (path := Path(folder, name)).is_dir()
        )
        shutil.rmtree(into / name, ignore_errors=True)
        shutil.copytree(source, into / name)
        changed = 0
        for script in sorted((into / name).rglob("*.js")):
            parts = script.read_text(encoding="utf-8").split(hurry)
            script.write_text(patience.join(parts), encoding="utf-8", newline="")
            changed += len(parts) - 1
        if not changed:
            raise RuntimeError(f"the installed {name} does not say {hurry}: look at CHANGES in {__file__}")
