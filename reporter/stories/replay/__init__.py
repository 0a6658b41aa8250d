"""The replay of a story on the decisions of the program, with a virtual clock."""
