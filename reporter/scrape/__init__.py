"""
Reading of pods' metrics pages.

It answers: which page is read when, by which path, within which limits?
"""
