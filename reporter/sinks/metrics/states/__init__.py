"""The series of reasons: their state by namespace and by InferenceSet, and since when."""
