"""Texts that every part of the program reads or writes alike: times, and suggestions of names."""
