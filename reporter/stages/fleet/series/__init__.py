"""The series of an answer, gathered by cluster."""
