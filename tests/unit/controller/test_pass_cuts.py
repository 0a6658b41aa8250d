"""Limits on the cuts of a pass."""

from reporter.controller.passes import MIN_BATCHES, PassCuts


def advanced(cuts: PassCuts, batches: int = MIN_BATCHES) -> PassCuts:
    for _ in range(batches):
        cuts.batch_finished()
    return cuts


def test_a_pass_goes_on_for_some_batches_before_it_is_cut():
    cuts = PassCuts()
    cuts.resumed(1.0)
    assert not advanced(cuts, MIN_BATCHES - 1).is_allowed(9.0)
    assert advanced(cuts, 1).is_allowed(1.0)


def test_after_a_cut_a_pass_goes_on_for_as_long_as_the_cut_took():
    cuts = PassCuts()
    cuts.resumed(0.0)
    advanced(cuts).cut(1.0)
    cuts.resumed(1.5)
    assert not advanced(cuts).is_allowed(1.9)
    assert cuts.is_allowed(2.0)


def test_after_a_cut_the_batches_count_anew():
    cuts = PassCuts()
    cuts.resumed(0.0)
    advanced(cuts).cut(1.0)
    cuts.resumed(1.0)
    assert not cuts.is_allowed(9.0)
