"""Pure decisions, from watched objects to announced Events. No I/O, no clock, no randomness."""
