#!/usr/bin/env bash
# The suite on a new kind cluster, with the image and the chart as users install them.
# NOT YET SEEN TO WORK: written where kind cannot run.
# Needs kind, docker, kubectl, helm and Go. What is collected of a failure is in ARTIFACTS.
set -euo pipefail
cd "$(dirname "$0")/../.."

name=${KIND_CLUSTER:-status-reporter-e2e}
image=${IMAGE:-localhost/productionstack-status-reporter:e2e}
artifacts=${ARTIFACTS:-e2e-artifacts}
work=$(mktemp -d)
export KUBECONFIG="$work/kubeconfig"

collect() {
  mkdir -p "$artifacts"
  kubectl get events --all-namespaces --output=yaml >"$artifacts/events.yaml"
  kubectl get pods,deployments --all-namespaces --output=wide >"$artifacts/pods.txt"
  kubectl logs --namespace=kaito-system --prefix --tail=-1 \
    --selector=app.kubernetes.io/name=productionstack-status-reporter >"$artifacts/reporter.log"
  kind export logs "$artifacts/nodes" --name="$name"
}

finish() {
  status=$?
  set +e
  [ "$status" -eq 0 ] || collect
  kind delete cluster --name="$name"
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT

make image IMAGE="$image" CONTAINER_TOOL=docker
kind create cluster --name="$name" --kubeconfig="$KUBECONFIG" --wait=180s
kind load docker-image "$image" --name="$name"
.venv/bin/python -m e2e.kind "$KUBECONFIG" "$image"
# As users come to it: from the earlier reporter, whose image is not here.
helm install status-reporter e2e/chart/earlier --namespace=kaito-system
helm upgrade status-reporter helm/productionstack-status-reporter --namespace=kaito-system \
  --set image.repository="${image%:*}" \
  --set image.tag="${image##*:}" \
  --set controlPlane.kaitoNamespace=kaito-system \
  --set controlPlane.nodeProvisioner.name=gpu-provisioner \
  --set controlPlane.nodeProvisioner.namespace=gpu-provisioner --set "extraArgs={--heartbeat-seconds=60}" \
  --set statusBindAddress=:8082 --wait --timeout=5m
kubectl rollout status --namespace=kaito-system --timeout=5m \
  deployment/status-reporter-status-reporter
make e2e KUBECONFIG="$KUBECONFIG"
