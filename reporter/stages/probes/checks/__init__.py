"""
The probe for check Jobs, for all layers: the results that they report, and which of them count.

A Job is a check by its label. Its result is a condition that a container of it writes to its status;
docs/check-jobs.md is for those who write such Jobs.
"""
