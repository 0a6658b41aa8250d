"""Compare what the chart renders with what was reviewed, and with what the program needs."""
