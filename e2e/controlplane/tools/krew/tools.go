//go:build tools

// Package tools pins the krew that installs the kubectl plugin.
package tools

import _ "sigs.k8s.io/krew/cmd/krew"
