// The CRDs that the tests load into the API server. Nothing is compiled:
// each of these modules is downloaded at exactly this version and only its
// YAML is read.
module controlplane/crds

go 1.26.0

require (
	github.com/kaito-project/kaito v0.11.0
	github.com/kedacore/keda/v2 v2.19.0
	istio.io/api v1.29.2
	sigs.k8s.io/gateway-api v1.2.0
	sigs.k8s.io/gateway-api-inference-extension v1.5.0
	sigs.k8s.io/karpenter v1.12.0
)
