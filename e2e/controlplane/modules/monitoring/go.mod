// The CRDs of the Prometheus Operator, for what the chart renders of its kinds. As in
// ../crds nothing is compiled.
module controlplane/monitoring

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.85.0
