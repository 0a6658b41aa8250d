//go:build tools

// Package tools pins the endpoint picker of the inference extension.
package tools

import _ "sigs.k8s.io/gateway-api-inference-extension/cmd/epp"
