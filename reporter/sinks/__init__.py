"""
Those who are told: metrics, the status page, the log. They decide nothing.
"""
