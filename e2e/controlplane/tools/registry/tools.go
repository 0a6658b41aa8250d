//go:build tools

// Package tools pins the crane that is the registry of the tests of a release.
package tools

import _ "github.com/google/go-containerregistry/cmd/crane"
