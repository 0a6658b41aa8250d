//go:build tools

// Package tools pins the promtool that evaluates the chart's rules in the tests, and the Prometheus
// that the hub asks in them.
package tools

import (
	_ "github.com/prometheus/prometheus/cmd/prometheus"
	_ "github.com/prometheus/prometheus/cmd/promtool"
)
