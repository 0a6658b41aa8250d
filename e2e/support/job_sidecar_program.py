"""
The program as it is, but that the files of its service account are in the folder TEST_ACCOUNT.

In a pod they are at a fixed path, which only root could make here.
"""

import os
from pathlib import Path

from reporter.cli.__main__ import main
from reporter.job import command


if __name__ == "__main__":
    command.SERVICE_ACCOUNT_DIR = Path(os.environ["TEST_ACCOUNT"])
    main()
