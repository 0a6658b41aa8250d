//go:build tools

// Package tools pins the simulator that plays a model server in the tests.
package tools

import _ "github.com/llm-d/llm-d-inference-sim/cmd/llm-d-inference-sim"
