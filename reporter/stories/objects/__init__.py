"""Kubernetes objects, built from the short notation of a story."""
