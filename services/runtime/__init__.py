"""One harness for every gRPC service process of the workload: it imports no sibling package.

Which file answers what: `service` runs a process from start to drain; `options` are the command line that all services
share; `interceptor` is what happens around every call; `faults` is the grammar of failures on purpose; `texts` says
which texts are acceptable; `outgoing` makes channels whose calls keep the caller's deadline.
"""
