"""The probes, one a file: each judges one subject by a snapshot. ``evaluation.registry`` lists them."""
