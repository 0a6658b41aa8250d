"""The loops of the process: each a few lines around a tested step."""
