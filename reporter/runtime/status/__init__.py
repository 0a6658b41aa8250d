"""Ask for the status: a reporter that runs, a cluster that is read once, or a dump."""
