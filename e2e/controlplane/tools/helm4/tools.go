//go:build tools

// Package tools pins the helm of the newest major version, with which releases of the charts are tried too.
package tools

import _ "helm.sh/helm/v4/cmd/helm"
