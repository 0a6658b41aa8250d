"""
From verdicts to ranked findings, in this order.

- ``probe_run``: runs the probes for each subject.
- ``gate`` with ``holds`` and ``clocks``: holds trouble back until it has lasted, and keeps it until
  it has settled.
- ``suppression``: suppresses what follows from an upstream that is out.
- ``rank``: chooses the primary finding of a subject.
- ``evaluation``: the result of a pass; ``states``: the state of each key in one word.
"""
