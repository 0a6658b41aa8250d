"""Ask a metrics engine by the query API of Prometheus."""
