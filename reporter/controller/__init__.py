"""
Read the cluster, run a pass when something has changed, and hand on what it found.

- ``inputs``: the watches, the scraper, the permissions and what of them is Unknown.
- ``controller``: the pass. ``effective_catalogue``: what changes with the overlay.
- ``second_look``: reads again what a watch may have missed.
"""
