"""What can be set by the environment, and what does each setting change?

This is the only module of control that reads the environment.

Each setting is a field of `Settings` and a variable: `mesh_deadline_s` is TIDEGATE_MESH_DEADLINE_S. A command-line
option of the same name wins. `python -m control.settings` prints the reference, docs/settings.md.
"""

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from control.errors import Problem, SpecError

PREFIX = "TIDEGATE_"
ENVIRONMENT = "environment"


def _about(*, unit: str, meaning: str, consequence: str) -> Mapping[str, str]:
    return {"unit": unit, "meaning": meaning, "consequence": consequence}


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of the controller and the command-line tool, with their defaults."""

    state_dir: Path = field(
        default=Path("~/.local/state/tidegate/default"),
        metadata=_about(
            unit="folder",
            meaning="Where everything lives that must survive a restart: state, token, the mesh's documents, logs.",
            consequence="One controller a folder; two folders are two independent installations.",
        ),
    )
    listen: str = field(
        default="127.0.0.1:0",
        metadata=_about(
            unit="host:port",
            meaning="Where the controller's API listens. Port 0 picks a free one, which the ready line names.",
            consequence="Only loopback addresses are accepted: the API is not made for a network.",
        ),
    )
    mesh: str = field(
        default="127.0.0.1:15020",
        metadata=_about(
            unit="host:port",
            meaning="Where the local mesh's API listens.",
            consequence="While nothing answers there, shifts hold and say so.",
        ),
    )
    token_file: str = field(
        default="",
        metadata=_about(
            unit="file",
            meaning="The secret of controller and mesh, shown by whoever calls. Empty: `token` in the state folder.",
            consequence="A file that others than its owner can read is refused. It is made when it is absent.",
        ),
    )
    metrics: str = field(
        default="",
        metadata=_about(
            unit="host:port",
            meaning="Where the controller's own Prometheus metrics are served. Empty: nowhere.",
            consequence="The metrics carry names of shifts and no secrets; keep the port on loopback all the same.",
        ),
    )
    log_level: str = field(
        default="info",
        metadata=_about(
            unit="debug, info, warning or error",
            meaning="How much the controller writes to stderr, one JSON object a line.",
            consequence="At `info` each tick that decided something is one line; at `debug` every tick is.",
        ),
    )
    mesh_deadline_s: float = field(
        default=2.0,
        metadata=_about(
            unit="seconds",
            meaning="How long one call to the mesh's API may take.",
            consequence="Longer: a mesh that hangs delays a roll-back. Shorter: a busy machine looks like a dead mesh.",
        ),
    )
    stats_deadline_s: float = field(
        default=1.0,
        metadata=_about(
            unit="seconds",
            meaning="How long an Envoy may take to answer with its counters.",
            consequence="An Envoy that takes longer counts as unread in this look; nothing is concluded about it.",
        ),
    )
    prometheus_url: str = field(
        default="",
        metadata=_about(
            unit="http(s)://host:port",
            meaning="The Prometheus that has the proxies' metrics and people's own. Empty: none.",
            consequence="Without it a shift with `source: prometheus` holds, and people's own metrics can't be read.",
        ),
    )
    prometheus_scrape_s: float = field(
        default=15.0,
        metadata=_about(
            unit="seconds",
            meaning="How often that Prometheus scrapes (the longest `scrape_interval` of the targets that matter).",
            consequence="A process whose newest scrape is older than three of these is unread. Too short: what is read "
            "in time looks unread.",
        ),
    )
    prometheus_timeout_s: float = field(
        default=5.0,
        metadata=_about(
            unit="seconds",
            meaning="How long Prometheus may take to answer one query.",
            consequence="Longer: a Prometheus that hangs delays looks. Shorter: a busy one looks dead.",
        ),
    )
    prometheus_user: str = field(
        default="",
        metadata=_about(
            unit="name",
            meaning="The user of basic authentication.",
            consequence="Goes with the password file; excludes a bearer token.",
        ),
    )
    prometheus_password_file: str = field(
        default="",
        metadata=_about(
            unit="file",
            meaning="The password of that user. The file is read anew for each query.",
            consequence="While it can't be read, nothing is asked, and the shift says so.",
        ),
    )
    prometheus_bearer_file: str = field(
        default="",
        metadata=_about(
            unit="file",
            meaning="A bearer token. The file is read anew for each query, so that a token may rotate.",
            consequence="While it can't be read, nothing is asked, and the shift says so.",
        ),
    )
    prometheus_headers: str = field(
        default="",
        repr=False,
        metadata=_about(
            unit="`Name: value; Name: value`",
            meaning="Headers of each query beside those.",
            consequence="Example: `X-Scope-OrgID: team-a` names the tenant of a Mimir.",
        ),
    )
    prometheus_ca: str = field(
        default="",
        metadata=_about(
            unit="file",
            meaning="The authority that signs Prometheus's certificate. Empty: those that this machine trusts.",
            consequence="A certificate that it did not sign is refused, and the shift says so.",
        ),
    )
    prometheus_cert: str = field(
        default="",
        metadata=_about(
            unit="file",
            meaning="The certificate that we show to Prometheus.",
            consequence="Only where Prometheus asks for one.",
        ),
    )
    prometheus_key: str = field(
        default="",
        metadata=_about(
            unit="file",
            meaning="The key of that certificate. Empty: it is in the certificate's file.",
            consequence="Read when the first query is sent.",
        ),
    )
    kubernetes: str = field(
        default="",
        metadata=_about(
            unit="`in-cluster` or the path of a kubeconfig",
            meaning="The cluster whose TrafficShifts are looked at. Empty: none, but a laptop's mesh.",
            consequence="State lives in the objects' status; the API of the laptop is not served.",
        ),
    )
    kube_context: str = field(
        default="",
        metadata=_about(
            unit="name",
            meaning="The context of that kubeconfig. Empty: its current one.",
            consequence="Of no use in a cluster.",
        ),
    )
    kubernetes_deadline_s: float = field(
        default=10.0,
        metadata=_about(
            unit="seconds",
            meaning="How long one call to the Kubernetes API may take.",
            consequence="Longer: an API server that hangs delays a roll-back. Shorter: a busy one looks dead.",
        ),
    )
    namespace: str = field(
        default="",
        metadata=_about(
            unit="name",
            meaning="The one namespace that a controller looks after. Empty: all of them.",
            consequence="With one, a Role is enough; with all, a ClusterRole is needed.",
        ),
    )
    istiod: str = field(
        default="http://istiod.istio-system:15014",
        metadata=_about(
            unit="URLs, separated by commas",
            meaning="Where istiod's debug interface answers. The name of a Service means each of its endpoints.",
            consequence="While any of them can't be asked, nobody knows who acknowledged, and steps wait to settle.",
        ),
    )
    lease_namespace: str = field(
        default="tidegate-system",
        metadata=_about(
            unit="name",
            meaning="Where the Lease `tidegate` lives, by which replicas elect the one that acts.",
            consequence="Two installations that share a Lease act as one.",
        ),
    )
    lease_s: int = field(
        default=15,
        metadata=_about(
            unit="seconds, at least 3",
            meaning="How long a leader that is gone keeps others waiting.",
            consequence="Shorter: a hiccup of the API server costs the leadership. Longer: who leads is missed later.",
        ),
    )
    identity: str = field(
        default="",
        metadata=_about(
            unit="name",
            meaning="Who this replica is in the Lease. Empty: host name and process number.",
            consequence="Two replicas must not share one.",
        ),
    )
    workers: int = field(
        default=4,
        metadata=_about(
            unit="shifts",
            meaning="How many shifts are looked at side by side.",
            consequence="One shift is never looked at twice at once, whatever the number.",
        ),
    )
    backoff_base_s: float = field(
        default=0.5,
        metadata=_about(
            unit="seconds",
            meaning="The longest wait after a first failed look (mesh not reached, somebody else wrote in between).",
            consequence="Doubles with each further failure in a row, up to the cap; half of it is random.",
        ),
    )
    backoff_cap_s: float = field(
        default=10.0,
        metadata=_about(
            unit="seconds",
            meaning="The longest wait between two looks at a shift whose looks keep failing.",
            consequence="A mesh that comes back is noticed after this time at the latest (usually at once).",
        ),
    )
    drain_s: float = field(
        default=1.0,
        metadata=_about(
            unit="seconds",
            meaning="How long calls that are under way may take to end when the controller is told to stop.",
            consequence="Watches are ended at once; commands get this long.",
        ),
    )
    call_timeout_s: float = field(
        default=10.0,
        metadata=_about(
            unit="seconds",
            meaning="How long the command-line tool waits for the controller's answer to one call.",
            consequence="After it the tool ends with exit code 5.",
        ),
    )

    @property
    def token_path(self) -> Path:
        return Path(self.token_file).expanduser() if self.token_file else self.state_dir / "token"


def variable(name: str) -> str:
    """The environment variable of a setting. Example: `state_dir` is TIDEGATE_STATE_DIR."""
    return PREFIX + name.upper()


def read_settings(environment: Mapping[str, str], **given: Any) -> Settings:
    """Settings from variables, overridden by what is given (None: not given). Raises SpecError with all mistakes."""
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for each in dataclasses.fields(Settings):
        text = environment.get(variable(each.name))
        if text is None:
            continue
        try:
            values[each.name] = _kind(each)(text)
        except ValueError:
            message = f"{variable(each.name)} is {text!r}, expected {each.metadata['unit']}"
            problems.append(Problem(ENVIRONMENT, 0, 0, message))
    if problems:
        raise SpecError(problems)
    settings = Settings(**values | {name: value for name, value in given.items() if value is not None})
    return dataclasses.replace(settings, state_dir=settings.state_dir.expanduser())


def _kind(setting: "dataclasses.Field[Any]") -> Callable[[str], Any]:
    """What a variable's text is turned into: the type of the setting's default."""
    kind: Callable[[str], Any] = type(setting.default)
    return Path if isinstance(setting.default, Path) else kind


def settings(**given: Any) -> Settings:
    """Settings of this process."""
    return read_settings(os.environ, **given)


def state_dir_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option `--state-dir` of every verb that works on a state folder."""
    option = click.option(
        "--state-dir",
        type=click.Path(path_type=Path, file_okay=False),
        callback=_state_dir,
        help=f"Folder with everything that must survive a restart. [{variable('state_dir')}]",
    )
    return option(command)


def _state_dir(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> Path:
    if value is not None and value == Path():
        raise click.BadParameter("the folder's name is empty (an unset variable?) or the current folder; name one")
    return settings(state_dir=value).state_dir


def reference() -> str:
    """The text of docs/settings.md."""
    return "\n".join(_reference_lines())


def _reference_lines() -> Iterator[str]:
    yield "# Settings\n"
    yield "Generated by `python -m control.settings`; a command-line option of the same name wins over the variable.\n"
    for each in dataclasses.fields(Settings):
        default = f"`{each.default}`" if each.default != "" else "empty"
        yield f"## {variable(each.name)}\n"
        yield f"{each.metadata['meaning']}\n"
        yield f"- Unit: {each.metadata['unit']}"
        yield f"- Default: {default}"
        yield f"- Consequence: {each.metadata['consequence']}\n"


@click.command()
def main() -> None:
    """Print the reference of all settings."""
    click.echo(reference(), nl=False)


if __name__ == "__main__":
    main()
