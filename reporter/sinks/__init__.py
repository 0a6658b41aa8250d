"""The observers of passes: metrics, the status page, the log. They decide nothing."""
