"""
One evaluation of a cluster or of a dump, without a process that stays.

It answers: what would the reporter find, if it had just started?
"""
