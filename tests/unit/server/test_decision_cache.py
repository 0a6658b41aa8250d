"""The time for which an answer about readers counts."""

from datetime import timedelta

from reporter.server.decision_cache import DecisionCache


SHORT = timedelta(seconds=5)


def test_an_answer_counts_for_its_time_and_not_longer():
    cache: DecisionCache[bool] = DecisionCache()
    cache.keep("a", False, now=100, time=SHORT)
    assert cache.find("a", now=104.9).value is False
    assert cache.find("a", now=105) is None
    assert cache.find("b", now=100) is None


def test_a_newer_answer_replaces_one_and_its_time():
    cache: DecisionCache[bool] = DecisionCache()
    cache.keep("a", False, now=100, time=SHORT)
    cache.keep("a", True, now=103, time=SHORT)
    assert cache.find("a", now=107).value is True


def test_the_oldest_answer_makes_room():
    cache: DecisionCache[int] = DecisionCache(max_kept=2)
    for number, key in enumerate("abc"):
        cache.keep(key, number, now=100, time=SHORT)
    assert cache.find("a", now=100) is None
    assert [cache.find(key, now=100).value for key in "bc"] == [1, 2]
    cache.keep("b", 5, now=101, time=SHORT)
    cache.keep("d", 6, now=101, time=SHORT)
    assert cache.find("c", now=101) is None
    assert cache.find("b", now=101).value == 5
