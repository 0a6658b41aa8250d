//go:build tools

// Package tools pins the helm that installs the chart in the tests.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
