"""
What the flags of the benchmarks have in common.
"""

import argparse


def natural(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
