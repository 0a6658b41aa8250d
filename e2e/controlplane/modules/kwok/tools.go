//go:build tools

// Package tools pins the kwok that plays the kubelet in the tests.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
