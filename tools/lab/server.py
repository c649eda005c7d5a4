"""JupyterLab on the student's folder: in Portuguese, as far as its language pack goes, there alone."""

import os
import sys

from ipykernel.ipkernel import IPythonKernel
from jupyter_client.kernelspec import NATIVE_KERNEL_NAME, KernelSpecManager

from tools.lab.folder import Folder


def command(folder: Folder) -> list[str]:
    """The program that serves a folder; it is to be started in it."""
    # JupyterLab refuses root unless told; inside a container there is nobody else.
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    served = (f"--ServerApp.root_dir={folder.path}", f"--LabApp.extra_labextensions_path={folder.extensions}")
    return [sys.executable, "-m", "jupyterlab", *served, *as_root]


def environment(folder: Folder) -> dict[str, str]:
    """What the server is told beside: all that it is to know and to remember is in the folder."""
    return {**os.environ, "JUPYTER_CONFIG_DIR": str(folder.private)}


def kernel() -> dict:
    """What JupyterLab writes into a notebook that this Python runs; written before, it changes nothing."""
    spec = KernelSpecManager().get_kernel_spec(NATIVE_KERNEL_NAME)
    named = {"display_name": spec.display_name, "language": spec.language, "name": NATIVE_KERNEL_NAME}
    return {"kernelspec": named, "language_info": dict(IPythonKernel.language_info)}
