//go:build tools

// Package tools pins the workspace controller of KAITO.
package tools

import _ "github.com/kaito-project/kaito/cmd/workspace"
