"""
From verdicts to ranked findings, in this order.

- ``registry``: the list of all probes. ``probe_run``: runs them for each subject.
- ``tracking`` with ``holds`` and ``clocks``: holds trouble back until it has lasted, and keeps it until
  it has settled.
- ``suppression``: suppresses what follows from an upstream that is out.
- ``silencing``: holds back what is silenced.
- ``rank``: chooses the primary finding of a subject.
- ``pipeline``: one pass through all of them, whole or in parts. ``clear_subjects``: what a full pass skips.
- ``evaluation``: the result of a pass; ``states``: the state of each key in one word.
- ``remembered`` and ``catalogue_change``: continue findings after a restart, and with another catalogue.
"""
