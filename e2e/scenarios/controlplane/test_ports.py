"""Ports are handed out before their servers bind them, in several test processes at once."""

import subprocess
import sys
from collections import Counter

from tests.support.ports import END, FIRST


TAKE = "from tests.support.ports import free_port\nfor _ in range(300): print(free_port())"


def test_processes_side_by_side_get_each_port_once():
    processes = [
        subprocess.Popen([sys.executable, "-c", TAKE], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    taken = Counter(int(port) for each in processes for port in each.communicate()[0].split())
    assert len(taken) == taken.total() == 4 * 300
    assert FIRST <= min(taken) <= max(taken) < END
