"""
Probes that read the metrics pages of Ready model servers. They share one page and one history.
"""
