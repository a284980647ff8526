"""Hypothesis walks the state machine of a stream: any snapshots, in any interleaving with what an Envoy says.

Laws: a running Envoy never holds a route to a cluster that it lacks; when everything is said it runs what is wanted;
then nothing more is sent; what was refused alone is never sent again; every response has a nonce of its own.
"""

from collections import deque

import hypothesis.strategies as st
from hypothesis import Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from mesh.xds.snapshot import Kind, Snapshot
from mesh.xds.subscription import Request, Response, Subscription
from tests.support.ads_model import ModelEnvoy, world

NAMES = ["c-red", "c-blue", "c-green", "c-grey"]


@st.composite
def worlds(draw: st.DrawFn) -> Snapshot:
    clusters = draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["1", "2"]), min_size=1))
    endpoints = {name: draw(st.sampled_from(["there", "elsewhere", "nowhere"])) for name in clusters}
    routes = {
        name: " ".join(draw(st.lists(st.sampled_from(sorted(clusters)), unique=True)))
        for name in draw(st.lists(st.sampled_from(["80", "81", "82"]), unique=True, min_size=1))
    }
    return world(clusters, routes, endpoints=endpoints, salt=draw(st.sampled_from(["", "!"])))


class Walk(RuleBasedStateMachine):
    """Both directions of the stream are queues; the walk picks who is heard next and when the wanted world changes."""

    def __init__(self) -> None:
        super().__init__()
        self.envoy = ModelEnvoy()
        self.subscription = Subscription()
        self.down: deque[Response] = deque()
        self.nonces: list[str] = []
        self.wanted: Snapshot | None = None

    def send(self, responses: list[Response]) -> None:
        self.down.extend(responses)
        self.nonces += [response.nonce for response in responses]

    @initialize()
    def connect(self) -> None:
        self.envoy.connect()

    @rule(wanted=worlds())
    def change(self, wanted: Snapshot) -> None:
        self.wanted = wanted
        self.send(self.subscription.on_snapshot(wanted))

    @rule(times=st.integers(1, 6))
    def hear_envoy(self, times: int) -> None:
        for _ in range(min(times, len(self.envoy.says))):
            self.send(self.subscription.on_request(self.envoy.says.popleft()))

    @rule(times=st.integers(1, 6))
    def hear_server(self, times: int) -> None:
        for _ in range(min(times, len(self.down))):
            self.envoy.hear(self.down.popleft())

    @rule(kind=st.sampled_from(list(Kind)), nonce=st.sampled_from(["999", "nonsense"]))
    def a_stale_request_changes_nothing(self, kind: Kind, nonce: str) -> None:
        if self.envoy.nonce.get(kind):
            assert self.subscription.on_request(Request(kind, frozenset({"other"}), "", nonce)) == []

    @rule()
    def a_type_that_is_not_ours_is_ignored(self) -> None:
        assert self.subscription.on_request(Request("type.googleapis.com/other", frozenset({"x"}))) == []

    @rule()
    def settle(self) -> None:
        for _ in range(1000):
            if not self.down and not self.envoy.says:
                break
            self.hear_server(6)
            self.hear_envoy(6)
        else:
            raise AssertionError("they never stop talking")
        if self.wanted is not None:
            for kind in Kind:
                has, wanted = self.envoy.has[kind], self.wanted.of(kind)
                assert {n: has[n].digest for n in wanted} == {n: r.digest for n, r in wanted.items()}
                if kind in (Kind.CLUSTER, Kind.LISTENER):
                    assert has.keys() == wanted.keys()
                acked = self.subscription.acked(kind)
                assert {n: acked[n].digest for n in wanted} == {n: r.digest for n, r in wanted.items()}
            assert self.subscription.on_snapshot(self.wanted) == []

    @rule()
    def reconnect(self) -> None:
        """The stream is lost with all that was on its way; the Envoy keeps what it runs."""
        self.down.clear()
        self.nonces.clear()
        self.subscription = Subscription(self.wanted, self.subscription)
        self.envoy.connect()

    @invariant()
    def no_route_leads_nowhere(self) -> None:
        assert self.envoy.broken == 0

    @invariant()
    def every_nonce_is_new(self) -> None:
        assert len(set(self.nonces)) == len(self.nonces)

    def teardown(self) -> None:
        self.settle()


Walk.TestCase.settings = settings(max_examples=100, stateful_step_count=30, deadline=None, phases=[Phase.generate])
TestWalk = Walk.TestCase
