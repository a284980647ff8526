"""Weights: what a route says, what a split asks for, and which bytes that changes."""

from fractions import Fraction

import pytest

from mesh.istio.document import read_documents
from mesh.istio.problem import MissingDestination, RouteNotFound, StalePatch, WeightRefused
from mesh.istio.weights import (
    DestinationWeight,
    RouteView,
    WeightPatch,
    configured_share,
    replace_document,
    route_view,
    splice,
    weight_patch,
)
from mesh.traffic import RouteRef, TrafficSplit
from tests.support.doc_documents import SPLIT_ROUTE, document, documents, virtual_service

REF = RouteRef("default", "translator", "primary")
FQDN = "translator.default.svc.cluster.local"


def view(*weights: tuple[str, int | None], host: str = FQDN, port: int | None = None) -> RouteView:
    destinations = tuple(DestinationWeight(host, subset, port, weight) for subset, weight in weights)
    return RouteView(REF, 0, "r1", destinations, 2, False, "mesh.yaml", 7)


def split(share: str) -> TrafficSplit:
    return TrafficSplit("translator", "v1", "v2", Fraction(share))


def shifted(text: str, share: str, ref: RouteRef = REF) -> str:
    """The text after the weights were set to this canary share."""
    subject = document(text)
    patch = weight_patch(route_view(subject, ref), split(share))
    assert patch is not None
    return splice(subject, patch).decode()


class TestRouteView:
    def test_reads_the_route_with_full_names_and_place(self) -> None:
        subject = document(virtual_service(SPLIT_ROUTE))
        assert route_view(subject, REF) == RouteView(
            ref=REF,
            index=0,
            revision=subject.revision,
            destinations=(DestinationWeight(FQDN, "v1", None, 90), DestinationWeight(FQDN, "v2", None, 10)),
            retries=2,
            hands_off=False,
            file="mesh.yaml",
            line=7,
        )

    @pytest.mark.parametrize(
        ("host", "full"),
        [
            pytest.param("a", "a.prod.svc.cluster.local", id="a short name belongs to the document's namespace"),
            pytest.param("a.other", "a.other", id="a name with a dot stays"),
            pytest.param("A.Example.COM", "a.example.com", id="case does not matter"),
        ],
    )
    def test_host(self, host: str, full: str) -> None:
        text = virtual_service(
            f"    - route: [{{destination: {{host: {host}, port: {{number: 80}}}}}}]", namespace="prod"
        )
        found = route_view(document(text), RouteRef("prod", "translator")).destinations
        assert found == (DestinationWeight(full, "", 80, None),)

    @pytest.mark.parametrize(
        ("retries", "tries"),
        [
            pytest.param("", 2, id="silent: Istio retries twice"),
            pytest.param("retries: {}", 0, id="an empty block switches retries off"),
            pytest.param("retries: {attempts: 0}", 0, id="zero"),
            pytest.param("retries: {attempts: 5}", 5, id="five"),
            pytest.param("retries: {attempts: -1}", 0, id="a negative number counts as none"),
            pytest.param("retries: {retryOn: unavailable}", 0, id="no attempts means none"),
            pytest.param("retries:", 2, id="null is silence"),
            pytest.param("retries: 3", 0, id="not a block at all"),
        ],
    )
    def test_retries(self, retries: str, tries: int) -> None:
        text = virtual_service(f"    - {retries or 'name: primary'}\n      route: [{{destination: {{host: a}}}}]")
        assert route_view(document(text), RouteRef("default", "translator")).retries == tries

    @pytest.mark.parametrize(
        ("annotations", "expected"),
        [
            ('{tidegate.dev/hands-off: "true"}', True),
            ("{tidegate.dev/hands-off: true}", True),
            ('{tidegate.dev/hands-off: "false"}', False),
            ("{other: x}", False),
            ("[]", False),
        ],
    )
    def test_hands_off(self, annotations: str, expected: bool) -> None:
        text = virtual_service(SPLIT_ROUTE).replace("namespace: default}", f"annotations: {annotations}}}")
        assert route_view(document(text), REF).hands_off is expected

    @pytest.mark.parametrize(
        ("written", "weight"),
        [("90", 90), ('"90"', 90), ("90.0", 90), ("0x5A", 90), ("-1", -1), ("", None), ("~", None), ("null", None)],
    )
    def test_weight(self, written: str, weight: int | None) -> None:
        text = virtual_service(SPLIT_ROUTE.replace("weight: 90", f"weight: {written}"))
        assert route_view(document(text), REF).destinations[0].weight == weight

    @pytest.mark.parametrize(
        "written", ["abc", "true", "1.5", "[1]", "{a: 1}", '"999999999999999999999999999999"', ".nan"]
    )
    def test_refuses_what_is_no_weight(self, written: str) -> None:
        text = virtual_service(SPLIT_ROUTE.replace("weight: 90", f"weight: {written}"))
        with pytest.raises(WeightRefused, match="has the weight"):
            route_view(document(text), REF)

    @pytest.mark.parametrize("entry", ["{weight: 1}", "{destination: {subset: v1}}", "{destination: x}", "5"])
    def test_refuses_a_destination_without_host(self, entry: str) -> None:
        text = virtual_service(f"    - route: [{entry}]")
        with pytest.raises(WeightRefused, match="destination without a host"):
            route_view(document(text), RouteRef("default", "translator"))

    def test_the_only_route_needs_no_name(self) -> None:
        assert route_view(document(virtual_service(SPLIT_ROUTE)), RouteRef("default", "translator")).index == 0

    @pytest.mark.parametrize(
        ("http", "ref", "message"),
        [
            pytest.param(
                "    - {name: a, route: [{destination: {host: x}}]}\n    - {route: [{destination: {host: x}}]}",
                RouteRef("default", "translator", "c"),
                r"route c doesn't exist \(its routes: a, \(unnamed, line 8\)\)",
                id="unknown name: the answer lists those that exist",
            ),
            pytest.param(
                "    - {name: a}\n    - {name: b}",
                RouteRef("default", "translator"),
                r"has 2 routes, and none is named \(its routes: a, b\)",
                id="several routes and no name",
            ),
            pytest.param(
                "    - {name: a}\n    - {name: a}",
                RouteRef("default", "translator", "a"),
                "is there 2 times",
                id="the name is there twice",
            ),
            pytest.param("    []", RouteRef("default", "translator"), "has no HTTP routes", id="no route at all"),
            pytest.param("    {}", RouteRef("default", "translator", "a"), "has no HTTP routes", id="http is no list"),
            pytest.param(
                "    - {name: a, redirect: {uri: /}}",
                RouteRef("default", "translator", "a"),
                "has no destinations",
                id="a redirect has no weights",
            ),
            pytest.param(
                "    - 5", RouteRef("default", "translator"), "has no destinations", id="a route that is none"
            ),
            pytest.param(
                "    - {name: a}",
                RouteRef("default", "other"),
                "is not VirtualService default/other",
                id="wrong document",
            ),
        ],
    )
    def test_route_not_found(self, http: str, ref: RouteRef, message: str) -> None:
        with pytest.raises(RouteNotFound, match=message):
            route_view(document(virtual_service(http)), ref)

    def test_a_document_without_spec_has_no_routes(self) -> None:
        text = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: translator}\n"
        with pytest.raises(RouteNotFound):
            route_view(document(text), REF)


class TestWeightPatch:
    @pytest.mark.parametrize(
        ("share", "expected"),
        [
            pytest.param("0", (100, 0), id="nothing"),
            pytest.param("1", (0, 100), id="everything"),
            pytest.param("1/100", (99, 1), id="one percent of a hundred"),
            pytest.param("1/200", (995, 5), id="half a percent needs a thousand"),
            pytest.param("1/2000", (9_995, 5), id="ten thousand"),
            pytest.param("1/20000", (99_995, 5), id="a hundred thousand"),
            pytest.param("1/1000000", (999_999, 1), id="a million"),
            pytest.param("1/3", (666_667, 333_333), id="never exact: the nearest of a million"),
            pytest.param("2/3", (333_333, 666_667), id="never exact, the other way"),
            pytest.param("1/100000000", (999_999, 1), id="more than nothing never becomes nothing"),
            pytest.param("99999999/100000000", (1, 999_999), id="less than everything never becomes everything"),
            pytest.param("1/2000001", (999_999, 1), id="a tiny share gets one"),
        ],
    )
    def test_total_without_other_destinations(self, share: str, expected: tuple[int, int]) -> None:
        patch = weight_patch(view(("v1", 50), ("v2", 50)), split(share))
        destinations = view(("v1", 50), ("v2", 50)).destinations
        assert patch == WeightPatch(REF, 0, destinations, expected, raises=Fraction(share) > Fraction(1, 2))

    @pytest.mark.parametrize(
        ("weights", "share", "expected"),
        [
            pytest.param([60, 0, 40], "1/4", (45, 15, 40), id="stable and canary divide their own sum"),
            pytest.param([60, 0, 40], "1", (0, 60, 40), id="everything of their own sum"),
            pytest.param([60, 0, 40], "1/100", (59, 1, 40), id="the nearest that their sum can hold"),
            pytest.param([30, 0, 40], "1/20", (29, 1, 40), id="a half goes to stable"),
            pytest.param([60, 0, 0], "1/200", (995, 5, 0), id="one that gets nothing is in nobody's way"),
            pytest.param([None, None, None], "0", (100, 0, 0), id="no weights at all become a valid sum"),
        ],
    )
    def test_other_destinations_keep_theirs(
        self, weights: list[int | None], share: str, expected: tuple[int, ...]
    ) -> None:
        subject = view(*zip(["v1", "v2", "old"], weights, strict=True))
        patch = weight_patch(subject, split(share))
        assert patch is not None
        assert patch.weights == expected

    @pytest.mark.parametrize(
        ("weights", "share"),
        [
            pytest.param([95, 5], "1/20", id="exactly so"),
            pytest.param([1, 1], "1/2", id="the same share of another total"),
            pytest.param([19, 1, 80], "1/20", id="beside another destination"),
            pytest.param([100, None], "0", id="no weight is weight 0"),
            pytest.param([0, 0, 5], "0", id="all for another destination and nothing asked for"),
            pytest.param([67, 33, 100], "1/3", id="as near as their sum can come"),
        ],
    )
    def test_none_when_it_is_already_so(self, weights: list[int | None], share: str) -> None:
        subject = view(*zip(["v1", "v2", "old"], weights, strict=False))
        assert weight_patch(subject, split(share)) is None

    @pytest.mark.parametrize(
        ("weights", "share", "message"),
        [
            pytest.param(
                [30, 0, 40], "1/100", "have a weight of 30 together", id="a hundredth of 30 rounds to nothing"
            ),
            pytest.param([1, 0, 40], "1/2", "can't be written", id="half of 1"),
            pytest.param([0, 0, 40], "1", "give stable a weight", id="a share of nothing"),
            pytest.param([30, 0, 40], "99/100", "multiply all weights", id="nearly all would round to all"),
        ],
    )
    def test_refuses_a_sum_too_coarse(self, weights: list[int], share: str, message: str) -> None:
        with pytest.raises(WeightRefused, match=message):
            weight_patch(view(*zip(["v1", "v2", "old"], weights, strict=True)), split(share))

    def test_a_missing_canary_comes_with_the_lines_to_add(self) -> None:
        with pytest.raises(MissingDestination, match="has no destination translator v2") as caught:
            weight_patch(view(("v1", None), port=50051), split("0"))
        assert caught.value.lines == (
            "- destination:\n    host: translator\n    subset: v2\n    port: {number: 50051}\n  weight: 0\n"
        )
        assert "mesh.yaml:7" in caught.value.hint

    def test_both_missing(self) -> None:
        with pytest.raises(MissingDestination, match="no destination translator v1 and no v2") as caught:
            weight_patch(view(("v9", 1)), split("0"))
        assert [line for line in caught.value.lines.splitlines() if "weight" in line] == [
            "  weight: 100",
            "  weight: 0",
        ]

    def test_the_same_subset_of_another_host_is_foreign(self) -> None:
        with pytest.raises(MissingDestination):
            weight_patch(view(("v1", 1), ("v2", 1), host="other.default.svc.cluster.local"), split("0"))

    def test_refuses_a_version_listed_twice(self) -> None:
        with pytest.raises(WeightRefused, match="lists translator v1 2 times"):
            weight_patch(view(("v1", 1), ("v1", 2), ("v2", 3)), split("0"))

    def test_refuses_one_version_as_both(self) -> None:
        with pytest.raises(WeightRefused, match="both v1"):
            weight_patch(view(("v1", 1), ("v2", 3)), TrafficSplit("translator", "v1", "v1", Fraction(0)))


class TestConfiguredShare:
    @pytest.mark.parametrize(
        ("weights", "expected"),
        [
            pytest.param([("v1", 95), ("v2", 5)], "1/20", id="two"),
            pytest.param([("v1", 60), ("v2", 20), ("old", 20)], "1/4", id="others don't count"),
            pytest.param([("v1", None)], "0", id="a lone stable gets everything"),
            pytest.param([("v2", 0)], "1", id="a lone canary gets everything, whatever its weight"),
            pytest.param([("v1", 0), ("v2", 0), ("old", 1)], "0", id="both get nothing"),
            pytest.param([("v1", 5), ("old", 5)], "0", id="no canary"),
            pytest.param([("v1", None), ("v2", 7)], "1", id="no weight is weight 0"),
        ],
    )
    def test_share(self, weights: list[tuple[str, int | None]], expected: str) -> None:
        assert configured_share(view(*weights), split("0")) == Fraction(expected)


BLOCK = """\
    - name: primary   # the split
      route:
        - destination:
            host: translator
            subset: v1   # old
        - destination:
            host: translator
            subset: v2
"""


class TestSplice:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            pytest.param("90", "80", id="plain"),
            pytest.param("'90'", "'80'", id="single quotes stay"),
            pytest.param('"90"', '"80"', id="double quotes stay"),
            pytest.param("90   # ninety", "80   # ninety", id="comment behind"),
            pytest.param("0x5A", "80", id="hexadecimal"),
            pytest.param("!!int 90", "!!int 80", id="a tag stays"),
            pytest.param("&mine 90", "&mine 80", id="an anchor that nobody uses stays"),
            pytest.param("90.0", "80", id="a float that is whole"),
        ],
    )
    def test_only_the_digits_change(self, before: str, after: str) -> None:
        text = virtual_service(SPLIT_ROUTE.replace("weight: 90", f"weight: {before}"))
        expected = text.replace(f"weight: {before}", f"weight: {after}").replace("weight: 10", "weight: 20")
        assert shifted(text, "1/5") == expected

    @pytest.mark.parametrize("null", ["", " ~", " null", "   # none yet"])
    def test_a_weight_without_value_gets_one(self, null: str) -> None:
        text = virtual_service(SPLIT_ROUTE.replace("weight: 10", f"weight:{null}").replace("90", "100"))
        after = shifted(text, "1/5")
        assert route_view(document(after), REF).destinations[1].weight == 20
        assert after.replace("weight: 20", f"weight:{null}", 1).replace("80", "100", 1).startswith(text[:200])

    def test_a_missing_weight_gets_its_own_line(self) -> None:
        expected = BLOCK.replace("# old\n", "# old\n          weight: 80\n") + "          weight: 20\n"
        assert shifted(virtual_service(BLOCK), "1/5") == virtual_service(expected)

    def test_at_the_end_of_a_file_without_line_break(self) -> None:
        expected = BLOCK.replace("# old\n", "# old\n          weight: 80\n") + "          weight: 20"
        assert shifted(virtual_service(BLOCK.rstrip()), "1/5") == virtual_service(expected)

    def test_line_breaks_of_another_system(self) -> None:
        text = virtual_service(BLOCK).replace("\n", "\r\n")
        expected = BLOCK.replace("# old\n", "# old\n          weight: 80\n") + "          weight: 20\n"
        assert shifted(text, "1/5") == virtual_service(expected).replace("\n", "\r\n")

    @pytest.mark.parametrize(
        ("entry", "expected"),
        [
            pytest.param(
                "{destination: {host: translator, subset: v2}}",
                "{destination: {host: translator, subset: v2}, weight: 20}",
                id="flow style",
            ),
            pytest.param(
                "{destination: {host: translator, subset: v2},}",
                "{destination: {host: translator, subset: v2}, weight: 20,}",
                id="flow style with a trailing comma",
            ),
            pytest.param(
                '{"destination": {"host": "translator", "subset": "v2"}}',
                '{"destination": {"host": "translator", "subset": "v2"}, "weight": 20}',
                id="JSON stays JSON",
            ),
            pytest.param(
                "destination: {host: translator, subset: v2}",
                "{destination: {host: translator, subset: v2}, weight: 20}",
                id="a pair without braces",
            ),
            pytest.param(
                "{destination: {host: translator, subset: v2}, headers: }",
                "{destination: {host: translator, subset: v2}, headers: , weight: 20}",
                id="an empty value last",
            ),
        ],
    )
    def test_a_missing_weight_in_flow_style(self, entry: str, expected: str) -> None:
        def text(second: str, first: int) -> str:
            stable = f"{{destination: {{host: translator, subset: v1}}, weight: {first}}}"
            return virtual_service(f"    - {{name: primary, route: [{stable}, {second}]}}\n")

        assert shifted(text(entry, 100), "1/5") == text(expected, 80)

    @pytest.mark.parametrize(
        "last",
        [
            pytest.param("headers: {request: {set: {a: b}}}  # flow", id="flow"),
            pytest.param("headers:\n            request:\n              remove: [x, y]  # gone", id="block"),
            pytest.param("headers:\n            request:\n              remove:\n                - 'x'", id="list"),
            pytest.param(
                'headers:\n            request:\n              set: {a: "b\n                c"}', id="two lines"
            ),
        ],
    )
    def test_a_missing_weight_goes_behind_the_last_line(self, last: str) -> None:
        text = virtual_service(BLOCK.replace("# old\n", "\n          weight: 100\n") + f"          {last}\n")
        after = shifted(text, "1/5")
        assert after == text.replace("weight: 100", "weight: 80") + "          weight: 20\n"

    @pytest.mark.parametrize(
        "last",
        [
            pytest.param("headers:\n            request: {set: }", id="an empty value in braces"),
            pytest.param("headers:", id="an empty value"),
            pytest.param(
                "headers:\n            request:\n              set:\n                a: |\n                  b",
                id="text",
            ),
        ],
    )
    def test_a_missing_weight_where_the_end_is_not_clear(self, last: str) -> None:
        text = virtual_service(BLOCK.replace("# old\n", "\n          weight: 100\n") + f"          {last}\n")
        after = document(shifted(text, "1/5"))
        assert route_view(after, REF).destinations[1].weight == 20
        entry = after.data["spec"]["http"][0]["route"][1]
        del entry["weight"]
        assert entry == document(text).data["spec"]["http"][0]["route"][1]

    @pytest.mark.parametrize(
        ("http", "message"),
        [
            pytest.param(
                SPLIT_ROUTE.replace("weight: 90", "weight: &w 90").replace("weight: 10", "weight: *w"),
                r"mesh.yaml:\d+:11: the weight of this destination is used by an alias elsewhere",
                id="an anchored weight that another one uses",
            ),
            pytest.param(
                "    - name: other\n      timeout: &w 10\n"
                + SPLIT_ROUTE.replace("weight: 90", "weight: 30").replace("weight: 10", "weight: *w"),
                "comes from an alias",
                id="a weight that is an alias",
            ),
            pytest.param(
                "    - name: other\n      x: &x {weight: 10}\n"
                + SPLIT_ROUTE.replace("weight: 10", "<<: *x").replace("weight: 90", "weight: 30"),
                "comes from a merge key",
                id="a merged weight",
            ),
            pytest.param(
                "    - name: other\n      route: &r [{destination: {host: translator, subset: v1}, weight: 3},"
                " {destination: {host: translator, subset: v2}, weight: 1}]\n    - name: primary\n      route: *r\n",
                "comes from an alias",
                id="a list of destinations that is an alias",
            ),
            pytest.param(
                "    - name: primary\n      route: &r [{destination: {host: translator, subset: v1}, weight: 3},"
                " {destination: {host: translator, subset: v2}, weight: 1}]\n    - name: other\n      route: *r\n",
                "is used by an alias elsewhere",
                id="a list of destinations that another route uses",
            ),
            pytest.param(
                "    - &p\n      name: other\n      route: [{destination: {host: translator, subset: v1}, weight: 3},"
                " {destination: {host: translator, subset: v2}, weight: 1}]\n    - <<: *p\n      name: primary\n",
                "comes from a merge key",
                id="a route list that is merged in",
            ),
            pytest.param(
                SPLIT_ROUTE.replace("weight: 90", 'weight: "\\x390"'),
                "written in a way that can't be changed",
                id="digits as escapes",
            ),
            pytest.param(
                SPLIT_ROUTE.replace("weight: 90", "weight: |-\n            90"),
                "written in a way that can't be changed",
                id="a number as a block of text",
            ),
            pytest.param(
                SPLIT_ROUTE.replace(", subset: v1}\n          weight: 90", ", subset: v1}\n          ? weight"),
                "can't be changed in place",
                id="a key with no room for a value",
            ),
        ],
    )
    def test_refuses_bytes_that_mean_something_else_too(self, http: str, message: str) -> None:
        with pytest.raises(WeightRefused, match=message):
            shifted(virtual_service(http), "1/5")

    def test_a_weight_that_stays_may_be_shared(self) -> None:
        other = "    - name: other\n      route: [{destination: {host: old}, weight: &w 7}]\n"
        text = virtual_service(other + SPLIT_ROUTE + "        - {destination: {host: old}, weight: *w}\n")
        assert shifted(text, "1/5") == text.replace("weight: 90", "weight: 80").replace("weight: 10", "weight: 20")

    def test_an_entry_that_merges_only_its_destination(self) -> None:
        text = virtual_service(
            "    - name: other\n      x: &x {destination: {host: translator, subset: v2}}\n"
            + SPLIT_ROUTE.replace("destination: {host: translator, subset: v2}\n          weight: 10", "<<: *x")
        )
        expected = text.replace("weight: 90", "weight: 80").replace("- <<: *x\n", "- <<: *x\n          weight: 20\n")
        assert shifted(text, "1/5") == expected

    def test_foreign_bytes_survive(self) -> None:
        assert "café" in shifted(
            virtual_service(SPLIT_ROUTE) + "  # café ☕ 🎉 \t \n  unknownField: [ 1,2 ,3 ]\n", "1/5"
        )

    def test_keeps_every_other_document_of_the_file(self) -> None:
        first = "# top\n" + virtual_service(SPLIT_ROUTE, name="first") + "# between\n"
        second = "---   # second\n" + virtual_service(SPLIT_ROUTE)
        third = "---\n" + virtual_service(SPLIT_ROUTE, name="third")
        subject = documents(first + second + third)[1]
        patch = weight_patch(route_view(subject, REF), split("1/5"))
        assert patch is not None
        text = splice(subject, patch)
        expected = second.replace("weight: 90", "weight: 80").replace("weight: 10", "weight: 20")
        assert text.decode() == expected
        file = (first + second + third).encode()
        assert replace_document(file, subject, text).decode() == first + expected + third

    @pytest.mark.parametrize(
        "now",
        [
            pytest.param(SPLIT_ROUTE.replace("weight: 90", "weight: 89"), id="another weight"),
            pytest.param(SPLIT_ROUTE.replace("v1", "v0"), id="another destination"),
            pytest.param("    - name: first\n      redirect: {uri: /}\n" + SPLIT_ROUTE, id="another position"),
            pytest.param(SPLIT_ROUTE.replace("primary", "renamed"), id="the route is gone"),
        ],
    )
    def test_refuses_a_patch_for_a_route_that_has_changed(self, now: str) -> None:
        patch = weight_patch(route_view(document(virtual_service(SPLIT_ROUTE)), REF), split("1/5"))
        assert patch is not None
        with pytest.raises(StalePatch):
            splice(document(virtual_service(now)), patch)

    def test_a_change_elsewhere_does_not_matter(self) -> None:
        patch = weight_patch(route_view(document(virtual_service(SPLIT_ROUTE)), REF), split("1/5"))
        assert patch is not None
        after = splice(document(virtual_service(SPLIT_ROUTE + "      timeout: 5s\n")), patch)
        assert after.decode().endswith("weight: 20\n      timeout: 5s\n")

    @pytest.mark.parametrize("weights", [(0, 0), (-1, 101), (1,), (1 << 31, 0)])
    def test_refuses_weights_that_no_mesh_takes(self, weights: tuple[int, ...]) -> None:
        subject = document(virtual_service(SPLIT_ROUTE))
        with pytest.raises(WeightRefused):
            splice(subject, WeightPatch(REF, 0, route_view(subject, REF).destinations, weights))


class TestReplaceDocument:
    def test_finds_a_document_that_has_moved(self) -> None:
        first, second = virtual_service(SPLIT_ROUTE, name="first"), "---\n" + virtual_service(SPLIT_ROUTE)
        subject = documents(first + second)[1]
        longer = ("# new\n" + first + second).encode()
        assert (
            replace_document(longer, subject, b"---\nnew: text\n") == ("# new\n" + first + "---\nnew: text\n").encode()
        )

    @pytest.mark.parametrize(
        "now",
        [
            pytest.param(virtual_service(SPLIT_ROUTE) + "  more: text\n", id="it goes on now"),
            pytest.param("# new\n" + virtual_service(SPLIT_ROUTE), id="it begins elsewhere"),
            pytest.param("", id="the file is empty"),
        ],
    )
    def test_refuses_when_the_document_is_not_there(self, now: str) -> None:
        with pytest.raises(StalePatch, match=r"no longer holds VirtualService default/translator"):
            replace_document(now.encode(), document(virtual_service(SPLIT_ROUTE)), b"")

    def test_the_same_text_twice_is_told_apart_by_its_place(self) -> None:
        text = "---\n" + virtual_service(SPLIT_ROUTE)
        second = read_documents("mesh.yaml", (text + text).encode())[0][1]
        assert replace_document((text + text).encode(), second, b"---\n").decode() == text + "---\n"
