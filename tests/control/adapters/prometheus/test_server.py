"""How Prometheus is asked, with which credentials, and what becomes of everything that is no answer."""

import ssl
from datetime import timedelta
from pathlib import Path

import pytest

from control.adapters.prometheus import server as module
from control.adapters.prometheus.access import Access
from control.adapters.prometheus.answer import QueryRefused, Series
from control.adapters.prometheus.server import PrometheusServer
from control.errors import Unavailable
from tests.support.control_time import NOON
from tests.support.prometheus_scripted import ScriptedPrometheus, certificates, scripted

ONE = {
    "status": "success",
    "data": {"resultType": "vector", "result": [{"metric": {"a": "b"}, "value": [1, "5"]}]},
}
REFUSAL = {"status": "error", "errorType": "bad_data", "error": "parse error"}


async def ask(access: Access) -> tuple[Series, ...]:
    server = PrometheusServer(access)
    try:
        return await server.ask("up[1m]", NOON + timedelta(milliseconds=125))
    finally:
        await server.close()


async def test_a_question_has_its_time_and_credentials(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t0ken")
    async with scripted(told := ScriptedPrometheus(body=ONE)) as url:
        access = Access(f"{url}/team", bearer_file=tmp_path / "token", headers=(("X-Scope-OrgID", "a"),), timeout_s=2.5)
        assert await ask(access) == (Series({"a": "b"}, ((1000, 5.0),)),)
    assert told.paths == ["/team/api/v1/query"]
    assert told.forms == [
        {"query": "up[1m]", "time": f"{NOON.timestamp():.0f}.125", "timeout": "2.5", "partial_response": "false"}
    ]
    assert (told.shown[0]["Authorization"], told.shown[0]["X-Scope-OrgID"]) == ("Bearer t0ken", "a")


async def test_a_token_that_rotates_is_shown_at_the_next_question(tmp_path: Path) -> None:
    async with scripted(told := ScriptedPrometheus(body=ONE)) as url:
        server = PrometheusServer(Access(url, bearer_file=tmp_path / "token"))
        for token in ("old", "new"):
            (tmp_path / "token").write_text(token)
            await server.ask("up", NOON)
        await server.close()
    assert [each["Authorization"] for each in told.shown] == ["Bearer old", "Bearer new"]


TROUBLES = [
    ("credentials", 401, "", "it answers 401 Unauthorized", "credentials of TIDEGATE_PROMETHEUS_*"),
    ("no permission", 403, "", "it answers 403 Forbidden", "credentials of TIDEGATE_PROMETHEUS_*"),
    ("another place", 302, "", "it answers 302 Found: http://login/", "TIDEGATE_PROMETHEUS_URL"),
    ("no API", 404, "", "it answers 404 Not Found", "path prefix"),
    ("starting", 503, "Service Unavailable", "it answers 503 Service Unavailable", ""),
    ("a page", 200, "<html>", "not what a Prometheus answers", ""),
    ("half an answer", 200, {**ONE, "warnings": ["store down"]}, "not whole: store down", ""),
    ("too much", 200, "x" * 2000, "larger than", ""),
]


@pytest.mark.parametrize(
    ("status", "body", "said", "hint"), [each[1:] for each in TROUBLES], ids=[each[0] for each in TROUBLES]
)
async def test_a_trouble_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, status: int, body: object, said: str, hint: str
) -> None:
    monkeypatch.setattr(module, "LARGEST", 1000)
    async with scripted(ScriptedPrometheus(status, body, headers={"Location": "http://login/"})) as url:
        with pytest.raises(Unavailable) as caught:
            await ask(Access(url))
    assert caught.value.message.startswith(f"Prometheus at {url} could not be asked: ")
    assert said in caught.value.message
    assert hint in caught.value.hint


async def test_nobody_there() -> None:
    with pytest.raises(Unavailable, match="could not be asked") as caught:
        await ask(Access("http://127.0.0.1:1"))
    assert "is it running" in caught.value.hint


async def test_a_server_that_hangs() -> None:
    async with scripted(ScriptedPrometheus(hangs=True)) as url:
        with pytest.raises(Unavailable, match=r"no answer within 0\.05 s"):
            await ask(Access(url, timeout_s=0.05))


@pytest.mark.parametrize("status", [400, 422])
async def test_a_query_that_is_refused(status: int) -> None:
    async with scripted(ScriptedPrometheus(status, REFUSAL)) as url:
        with pytest.raises(QueryRefused, match="parse error"):
            await ask(Access(url))


async def test_certificates_are_checked_and_shown(tmp_path: Path) -> None:
    ours = certificates(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=ours.certificate)
    context.load_cert_chain(ours.certificate, ours.key)
    context.verify_mode = ssl.CERT_REQUIRED
    async with scripted(ScriptedPrometheus(body=ONE), context) as url:
        assert await ask(Access(url, ca=ours.certificate, certificate=ours.certificate, key=ours.key))
        with pytest.raises(Unavailable, match="could not be asked"):
            await ask(Access(url, ca=ours.certificate))
        with pytest.raises(Unavailable, match=r"(?i)certificate"):
            await ask(Access(url))
