"""The catalogue as values: entries, their holds, and the rules that make subjects."""
