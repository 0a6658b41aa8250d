"""
The client of the Kubernetes API, and the scraper.

It answers: how does the program read from a cluster and write to it?
"""

from reporter.kube.partial_import import import_without_init


# Its __init__ imports the synchronous client, which nothing here calls, with two more HTTP and OAuth
# libraries (kubernetes/__init__.py): 230 modules, 7 MiB and a fifth of a second.
import_without_init("kubernetes")
