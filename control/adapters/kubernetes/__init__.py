"""The ports on a Kubernetes API server and an Istio: documents, workloads, proxies, state and leadership."""
