"""The pages of the process over HTTP."""
