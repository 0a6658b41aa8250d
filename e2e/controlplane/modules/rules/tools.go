//go:build tools

// Package tools pins the promtool that evaluates the chart's rules in the tests.
package tools

import _ "github.com/prometheus/prometheus/cmd/promtool"
