"""The status of ProductionStackStatuses: pure, from an object and the roll-up."""
