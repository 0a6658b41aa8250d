"""The commands about the status of a cluster: status, wait, explain and silence."""
