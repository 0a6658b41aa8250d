"""The process as a whole: start, output, end and confinement."""
