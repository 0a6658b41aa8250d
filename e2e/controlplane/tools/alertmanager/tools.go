//go:build tools

// Package tools pins Alertmanager, and the amtool that checks the example of its configuration.
package tools

import (
	_ "github.com/prometheus/alertmanager/cmd/alertmanager"
	_ "github.com/prometheus/alertmanager/cmd/amtool"
)
