"""Makes pytest execute each notebook once, through nbval, and check all that this execution gave."""

pytest_plugins = ["trust.plugin"]
