"""
The program as it is, but that the files of its service account are in the folder TEST_ACCOUNT.

In a pod they are at a fixed path, which only root could make here.
"""

import os
from pathlib import Path

from reporter.cli.__main__ import main
from reporter.kube import rest_config


if __name__ == "__main__":
    rest_config.SERVICE_ACCOUNT_DIR = Path(os.environ["TEST_ACCOUNT"])
    main()
