"""Roll up one subject: an InferenceSet, a namespace, and the components of the cluster."""
