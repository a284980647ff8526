"""A Kubernetes API server and a real istiod on this machine's loopback, without a container: for tests, and for people
who want to type `kubectl get trafficshift` before they own a cluster.

There is no kubelet: nothing runs pods. Workloads are processes that WorkloadEntries name.
"""
