//go:build tools

// Package tools pins the actionlint that checks the workflows.
package tools

import _ "github.com/rhysd/actionlint/cmd/actionlint"
