"""Changes of single expressions of the program, each of which some test must notice."""
