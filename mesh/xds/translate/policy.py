"""Which traffic policy holds for one cluster? Ports replace, subsets override block by block."""

from dataclasses import replace

from mesh.istio.views_destination_rule import Policy, Subset, TrafficPolicy

NONE = Policy()


def port_policy(policy: TrafficPolicy | None, port: int) -> Policy:
    """A port's settings replace the whole policy: what they leave out is the default, not the destination's."""
    if policy is None:
        return NONE
    own = policy.at(port)
    return policy.policy if own is None else own


def subset_policy(policy: TrafficPolicy | None, subset: Subset, port: int) -> Policy:
    """The subset's blocks over those of the destination; its settings for the port replace all but the retry budget."""
    base = port_policy(policy, port)
    if subset.policy is None:
        return base
    own = subset.policy.at(port)
    if own is not None:
        return replace(own, retry_budget=base.retry_budget)
    blocks = subset.policy.policy
    return Policy(
        blocks.connection_pool or base.connection_pool,
        blocks.load_balancer or base.load_balancer,
        blocks.retry_budget or base.retry_budget,
        blocks.outlier_detection or base.outlier_detection,
    )
