"""Find the files of stories, run them, and compare what was announced with what is expected."""
