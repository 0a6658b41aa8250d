"""A fleet for tests: the series that reporters write, and rounds of a hub played on the fold."""
