"""The roll-up status: what is, beside the Events about what went wrong."""
