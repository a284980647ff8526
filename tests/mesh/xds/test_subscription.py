"""The decision table of a discovery stream, row by row."""

import pytest

from mesh.xds.snapshot import Kind, Snapshot
from mesh.xds.subscription import Request, Response, Subscription
from tests.support.ads_model import thing, world

ONE = world({"c-red": "1", "c-blue": "1"}, {"80": "c-red"})
C, E, L, R = Kind


def said(responses: list[Response]) -> list[tuple[str, list[str]]]:
    return [(response.kind.name, sorted(resource.name for resource in response.resources)) for response in responses]


def ack(response: Response, *names: str) -> Request:
    return Request(response.kind, frozenset(names), response.version, response.nonce)


def nack(response: Response, *names: str, error: str = "no good", version: str = "last") -> Request:
    return Request(response.kind, frozenset(names), version, response.nonce, error)


class Running:
    """A subscription whose Envoy runs all of a world. `sent` has the last response of each kind."""

    def __init__(self, wanted: Snapshot = ONE) -> None:
        self.subscription = Subscription(wanted)
        self.sent: dict[Kind, Response] = {}
        self.names = {C: frozenset[str](), L: frozenset[str]()}
        for kind in Kind:
            self.names[kind] = frozenset() if kind in (C, L) else frozenset(wanted.of(kind))
            for response in self.hear(Request(kind, self.names[kind])):
                self.ack(response)

    def hear(self, request: Request) -> list[Response]:
        return self.keep(self.subscription.on_request(request))

    def want(self, wanted: Snapshot) -> list[Response]:
        return self.keep(self.subscription.on_snapshot(wanted))

    def keep(self, responses: list[Response]) -> list[Response]:
        self.sent |= {response.kind: response for response in responses}
        return responses

    def ack(self, response: Response) -> list[Response]:
        return self.hear(ack(response, *self.names[response.kind]))

    def nack(self, response: Response, **how: str) -> list[Response]:
        return self.hear(nack(response, *self.names[response.kind], **how))


def test_a_first_request_is_answered_with_everything_it_asks_for() -> None:
    subscription = Subscription(ONE)
    assert said(subscription.on_request(Request(C))) == [("CLUSTER", ["c-blue", "c-red"])]
    assert said(subscription.on_request(Request(E, frozenset({"c-red"})))) == [("ENDPOINT", ["c-red"])]
    assert said(subscription.on_request(Request(L))) == [("LISTENER", ["80"])]


def test_without_a_snapshot_nothing_is_said_until_there_is_one() -> None:
    subscription = Subscription()
    assert subscription.on_request(Request(C)) == []
    assert said(subscription.on_snapshot(ONE)) == [("CLUSTER", ["c-blue", "c-red"])]


def test_an_empty_set_of_clusters_is_an_answer_too() -> None:
    assert said(Subscription(world({}, {})).on_request(Request(C))) == [("CLUSTER", [])]


def test_an_ack_is_answered_with_nothing_and_remembered() -> None:
    running = Running()
    assert running.subscription.acked(R) == ONE.of(R)
    assert running.want(ONE) == []


def test_a_weight_step_sends_the_changed_route_and_nothing_else() -> None:
    running = Running(world({"c-red": "1", "c-blue": "1"}, {"80": "c-red", "81": "c-red"}))
    after = world({"c-red": "1", "c-blue": "1"}, {"80": "c-red c-blue", "81": "c-red"})
    assert said(running.want(after)) == [("ROUTE", ["80"])]


def test_changed_endpoints_go_out_alone() -> None:
    running = Running()
    after = world({"c-red": "1", "c-blue": "1"}, {"80": "c-red"}, endpoints={"c-red": "moved"})
    assert said(running.want(after)) == [("ENDPOINT", ["c-red"])]


def test_a_changed_cluster_is_followed_by_its_endpoints_unasked() -> None:
    running = Running()
    after = world({"c-red": "2", "c-blue": "1"}, {"80": "c-red"})
    assert said(running.want(after)) == [("CLUSTER", ["c-blue", "c-red"]), ("ENDPOINT", ["c-red"])]


def test_a_changed_listener_is_followed_by_its_routes_unasked() -> None:
    running = Running()
    after = world({"c-red": "1", "c-blue": "1"}, {"80": "c-red"}, salt="!")
    assert said(running.want(after)) == [("LISTENER", ["80"]), ("ROUTE", ["80"])]


def test_a_route_waits_until_the_new_cluster_that_it_names_is_acknowledged() -> None:
    running = Running()
    after = world({"c-red": "1", "c-blue": "1", "c-new": "1"}, {"80": "c-red c-new"})
    assert said(running.want(after)) == [("CLUSTER", ["c-blue", "c-new", "c-red"])]
    running.names[E] |= {"c-new"}
    answer = running.hear(Request(E, running.names[E], "", running.sent[E].nonce))
    assert said(answer) == [("ENDPOINT", ["c-new"])]
    assert running.ack(running.sent[E]) == []
    assert said(running.ack(running.sent[C])) == [("ROUTE", ["80"])]


def test_a_route_that_names_no_new_cluster_does_not_wait() -> None:
    running = Running(world({"c-red": "1", "c-blue": "1"}, {"80": "c-red", "81": "c-red"}))
    after = world({"c-red": "1", "c-blue": "1", "c-new": "1"}, {"80": "c-red c-new", "81": "c-blue"})
    assert said(running.want(after)) == [("CLUSTER", ["c-blue", "c-new", "c-red"]), ("ROUTE", ["81"])]


def test_a_cluster_goes_only_after_the_routes_without_it_were_acknowledged() -> None:
    running = Running(world({"c-red": "1", "c-blue": "1"}, {"80": "c-red c-blue"}))
    assert said(running.want(world({"c-red": "1"}, {"80": "c-red"}))) == [("ROUTE", ["80"])]
    assert said(running.ack(running.sent[R])) == [("CLUSTER", ["c-red"])]


def test_a_cluster_stays_when_the_route_without_it_is_refused() -> None:
    running = Running(world({"c-red": "1", "c-blue": "1"}, {"80": "c-red c-blue"}))
    running.want(world({"c-red": "1"}, {"80": "c-red bad"}))
    assert running.nack(running.sent[R]) == []
    assert set(running.subscription.acked(C)) == {"c-red", "c-blue"}


def test_a_nack_is_recorded_and_what_it_refuses_is_never_sent_again() -> None:
    running = Running()
    broken = world({"c-red": "1", "c-blue": "1"}, {"80": "bad"})
    running.want(broken)
    assert running.nack(running.sent[R], error="no such thing") == []
    assert running.subscription.rejections() == [(R, "80", "no such thing")]
    assert running.subscription.acked(R) == ONE.of(R)
    assert running.want(broken) == []
    assert said(running.want(ONE)) == [("ROUTE", ["80"])]
    assert running.ack(running.sent[R]) == []
    assert running.subscription.rejections() == []


def test_of_several_routes_refused_together_the_good_ones_get_through() -> None:
    running = Running(world({"c-red": "1", "c-blue": "1"}, {"80": "c-red", "81": "c-red", "82": "c-red"}))
    after = world({"c-red": "1", "c-blue": "1"}, {"80": "c-blue", "81": "bad", "82": "c-blue"})
    assert said(running.want(after)) == [("ROUTE", ["80", "81", "82"])]
    assert said(running.nack(running.sent[R])) == [("ROUTE", ["80"])]
    assert said(running.ack(running.sent[R])) == [("ROUTE", ["81"])]
    assert said(running.nack(running.sent[R])) == [("ROUTE", ["82"])]
    assert running.ack(running.sent[R]) == []
    assert [name for _, name, _ in running.subscription.rejections()] == ["81"]
    assert running.subscription.acked(R)["82"] == after.of(R)["82"]


@pytest.mark.parametrize(
    ("error", "refused", "route_goes"),
    [
        pytest.param("Error adding cluster(s) c-bad: no", ["c-bad"], True, id="the one that is named is refused"),
        pytest.param("Proto constraint validation failed", ["c-bad", "c-new"], False, id="no name: all that is new"),
    ],
)
def test_refused_clusters_hold_back_only_the_routes_that_name_them(
    error: str, refused: list[str], route_goes: bool
) -> None:
    running = Running()
    clusters = {"c-red": "1", "c-blue": "1", "c-new": "1", "c-bad": "1"}
    running.want(world(clusters, {"80": "c-red c-new"}))
    answer = running.nack(running.sent[C], error=error)
    assert sorted(name for _, name, _ in running.subscription.rejections()) == refused
    assert said(answer) == ([("ROUTE", ["80"])] if route_goes else [])
    weight_step = world(clusters, {"80": "c-blue"})
    assert ("ROUTE", ["80"]) in said(
        [*running.want(weight_step), *(running.ack(running.sent[R]) if route_goes else [])]
    )


def test_an_error_left_over_from_an_earlier_response_is_no_nack_of_this_one() -> None:
    running = Running()
    running.want(world({"c-red": "2", "c-blue": "1"}, {"80": "c-red"}))
    newest = running.sent[C]
    running.nack(newest, error="c-red of before", version=newest.version)
    assert running.subscription.rejections() == []
    assert running.subscription.acked(C)["c-red"] == thing("c-red", "2")


def test_clusters_are_sent_again_though_the_ack_of_the_last_ones_is_withheld() -> None:
    running = Running()
    running.want(world({"c-red": "2", "c-blue": "1"}, {"80": "c-red"}))
    assert ("CLUSTER", ["c-blue", "c-red"]) in said(running.want(world({"c-red": "3", "c-blue": "1"}, {"80": "c-red"})))


def test_routes_wait_for_the_answer_to_those_in_flight_and_then_go_in_their_newest_form() -> None:
    running = Running()
    running.want(world({"c-red": "1", "c-blue": "1"}, {"80": "c-blue"}))
    first = running.sent[R]
    assert running.want(world({"c-red": "1", "c-blue": "1"}, {"80": "c-red c-blue"})) == []
    assert running.want(world({"c-red": "1", "c-blue": "1"}, {"80": "c-blue c-red"})) == []
    newest = running.ack(first)
    assert [resource.body for resource in newest[0].resources] == [b"c-blue c-red"]


@pytest.mark.parametrize("nonce", ["0", "nonsense"], ids=["an old one", "an unknown one"])
def test_a_stale_nonce_is_ignored_whatever_else_the_request_says(nonce: str) -> None:
    running = Running()
    assert running.hear(Request(R, frozenset({"80", "81"}), "", nonce)) == []
    assert running.hear(Request(R, frozenset(), "", nonce, "no")) == []
    assert running.subscription.rejections() == []


def test_a_request_without_a_nonce_subscribes_anew_and_is_answered() -> None:
    running = Running()
    assert said(running.hear(Request(R, frozenset({"80"})))) == [("ROUTE", ["80"])]
    assert said(running.hear(Request(C))) == [("CLUSTER", ["c-blue", "c-red"])]


def test_names_that_are_new_in_an_ack_are_answered() -> None:
    subscription = Subscription(ONE)
    subscription.on_request(Request(C))
    first = subscription.on_request(Request(E, frozenset({"c-red"})))[0]
    assert said(subscription.on_request(ack(first, "c-red", "c-blue"))) == [("ENDPOINT", ["c-blue"])]


def test_no_names_end_the_subscription_of_routes_and_endpoints() -> None:
    running = Running()
    assert running.hear(ack(running.sent[R])) == []
    assert running.want(world({"c-red": "1", "c-blue": "1"}, {"80": "c-blue"})) == []
    assert running.subscription.acked(R) == {}


def test_a_name_that_nobody_knows_is_answered_when_it_comes_to_be() -> None:
    running = Running()
    running.names[R] = frozenset({"80", "99"})
    assert running.hear(ack(running.sent[R], "80", "99")) == []
    answer = running.want(world({"c-red": "1", "c-blue": "1"}, {"80": "c-red", "99": "c-blue"}))
    assert ("ROUTE", ["99"]) in said(answer)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        pytest.param([{"c-red"}], [["c-red"]], id="one by name"),
        pytest.param([{"*"}], [["c-blue", "c-red"]], id="everything by its sign"),
        pytest.param([{"c-red"}, {"c-red", "c-blue"}], [["c-red"], ["c-blue", "c-red"]], id="more names"),
        pytest.param([{"c-red"}, set()], [["c-red"], None], id="no names after some is nothing, not everything"),
        pytest.param([set(), {"c-red"}], [["c-blue", "c-red"], ["c-red"]], id="from everything to one"),
        pytest.param([{"c-red"}, {"*"}], [["c-red"], ["c-blue", "c-red"]], id="from one to everything"),
    ],
)
def test_clusters_may_be_asked_for_by_name(names: list[set[str]], expected: list[list[str] | None]) -> None:
    subscription = Subscription(ONE)
    nonce = ""
    for asked, wanted in zip(names, expected, strict=True):
        answer = subscription.on_request(Request(C, frozenset(asked), "", nonce))
        assert said(answer) == ([("CLUSTER", wanted)] if wanted else [])
        nonce = answer[0].nonce if answer else nonce


def test_after_a_lost_connection_everything_is_answered_again() -> None:
    running = Running()
    again = Subscription(ONE, running.subscription)
    asked = [Request(C, frozenset(), "v"), Request(E, running.names[E], "v"), Request(L, frozenset(), "v")]
    asked.append(Request(R, running.names[R], "v"))
    answers = [said(again.on_request(request)) for request in asked]
    assert answers == [
        [("CLUSTER", ["c-blue", "c-red"])],
        [("ENDPOINT", ["c-blue", "c-red"])],
        [("LISTENER", ["80"])],
        [("ROUTE", ["80"])],
    ]


def test_after_a_lost_connection_a_cluster_in_use_still_stays_until_its_route_is_gone() -> None:
    running = Running(world({"c-red": "1", "c-blue": "1"}, {"80": "c-red c-blue"}))
    again = Subscription(world({"c-red": "1"}, {"80": "c-red"}), running.subscription)
    assert said(again.on_request(Request(C, frozenset(), "v"))) == [("CLUSTER", ["c-blue", "c-red"])]


def test_a_new_process_is_not_taken_for_the_one_before() -> None:
    running = Running(world({"c-red": "1", "c-blue": "1"}, {"80": "c-red c-blue"}))
    again = Subscription(world({"c-red": "1"}, {"80": "c-red"}), running.subscription)
    assert said(again.on_request(Request(C))) == [("CLUSTER", ["c-red"])]
    assert again.acked(R) == {}


def test_after_a_lost_connection_to_a_new_server_routes_wait_for_the_word_on_clusters() -> None:
    again = Subscription(ONE)
    clusters = again.on_request(Request(C, frozenset(), "v"))[0]
    assert again.on_request(Request(R, frozenset({"80"}), "v")) == []
    assert said(again.on_request(ack(clusters))) == [("ROUTE", ["80"])]


def test_listeners_wait_while_clusters_warm() -> None:
    running = Running()
    after = world({"c-red": "1", "c-blue": "1", "c-new": "1"}, {"80": "c-red", "81": "c-new"})
    assert said(running.want(after)) == [("CLUSTER", ["c-blue", "c-new", "c-red"])]
    assert said(running.ack(running.sent[C])) == [("LISTENER", ["80", "81"])]


def test_what_is_not_ours_is_ignored() -> None:
    assert Subscription(ONE).on_request(Request("type.googleapis.com/envoy.service.runtime.v3.Runtime")) == []
