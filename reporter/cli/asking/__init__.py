"""Shared by the commands about a cluster: reach it, open what answers, print, and end."""
