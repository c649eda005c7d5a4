"""The course's widgets, one a file: live with a kernel, and alive in the static page without one."""
