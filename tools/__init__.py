"""Commands behind the Makefile: set-up, build, execution and serving of the book."""
