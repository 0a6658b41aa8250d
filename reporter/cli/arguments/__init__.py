"""Read what a command line and the environment ask for."""
