//go:build tools

// Package tools pins the amtool that checks the example configuration of Alertmanager.
package tools

import _ "github.com/prometheus/alertmanager/cmd/amtool"
