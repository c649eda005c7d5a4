"""The published solutions, one module per chapter. The stubs of the notebooks are cut from them."""
