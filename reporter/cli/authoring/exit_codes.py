"""The exit codes of test, lint and docs."""

EXIT_PASSED = 0
EXIT_DIFFERENT = 1
EXIT_REFUSED = 2
