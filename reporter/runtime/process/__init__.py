"""The process itself: clock, signals, heap and event loop."""
