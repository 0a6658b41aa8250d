"""The metrics page: what it declares, how the values are collected, and the page itself."""
