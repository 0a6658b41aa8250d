"""The image, built and run here."""

BASE, IMAGE = "localhost/base:test", "localhost/status-reporter:test"
