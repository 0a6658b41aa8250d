"""The second look: what to read again because a watch may have missed a change of it, and when."""
