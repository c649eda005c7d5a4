# Do mascaramento ao BERT: um curso executável.  `make help` lists the commands.
# `make COMMAND` is `python -m tools COMMAND`, which works without make too. PYTHON=, JOBS= and PORT= reach it.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
COMMANDS := help setup book lint check quick test exhaustive lab edit serve pdf notebooks tamper stress portability pins reproducible audit \
	student model bench clean clean-venv

.PHONY: $(COMMANDS)
$(COMMANDS):
	@test -n "$(PYTHON)" || { echo "error: Python was not found: install python3.11 and run make again." >&2; exit 1; }
	@$(PYTHON) -m tools $@
