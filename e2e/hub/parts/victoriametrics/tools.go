//go:build tools

// Package tools pins the VictoriaMetrics that the hub asks in its tests, beside Prometheus.
package tools

import _ "github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics"
