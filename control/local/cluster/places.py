"""Where does each part of the small cluster listen, and who may speak to its API server? Pure."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONTROLLER = "system:serviceaccount:tidegate-system:tidegate"
_ACCOUNTS = ("system:serviceaccounts", "system:serviceaccounts:tidegate-system", "system:authenticated")


@dataclass(frozen=True, slots=True)
class User:
    """Somebody whom the API server knows by a token. `name` names the kubeconfig's context too."""

    name: str
    user: str
    groups: Sequence[str]


USERS = (
    User("admin", "admin", ("system:masters",)),
    User("controller", CONTROLLER, _ACCOUNTS),
    User("alice", "alice", ("system:authenticated",)),
    User("bob", "bob", ("system:authenticated",)),
)


@dataclass(frozen=True, slots=True)
class ClusterPlaces:
    """Addresses in a leased net (its first three numbers) and files in a folder."""

    net: str
    state_dir: Path

    @property
    def etcd(self) -> str:
        return f"{self.net}.1:2379"

    @property
    def api_server(self) -> str:
        return f"{self.net}.1:6443"

    @property
    def istiod_xds(self) -> str:
        return f"{self.net}.1:15010"

    @property
    def istiod_http(self) -> str:
        return f"{self.net}.1:8080"

    @property
    def istiod_monitoring(self) -> str:
        return f"{self.net}.1:15014"

    @property
    def logs(self) -> Path:
        return self.state_dir / "logs"

    @property
    def certificates(self) -> Path:
        return self.state_dir / "certificates"

    @property
    def tokens(self) -> Path:
        return self.state_dir / "tokens.csv"

    @property
    def kubeconfig(self) -> Path:
        return self.state_dir / "kubeconfig"

    @property
    def mesh_config(self) -> Path:
        return self.state_dir / "mesh.yaml"


def token_lines(tokens: dict[str, str]) -> str:
    """The API server's token file. `tokens` are secrets by a user's name."""
    lines = (f'{tokens[each.name]},{each.user},{each.name},"{",".join(each.groups)}"' for each in USERS)
    return "".join(f"{line}\n" for line in lines)


def kubeconfig(places: ClusterPlaces, tokens: dict[str, str]) -> str:
    """One context a user; the administrator's is the current one."""
    certificate = str(places.certificates / "apiserver.crt")
    cluster = {"server": f"https://{places.api_server}", "certificate-authority": certificate}
    found: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "small", "cluster": cluster}],
        "users": [{"name": each.name, "user": {"token": tokens[each.name]}} for each in USERS],
        "contexts": [{"name": each.name, "context": {"cluster": "small", "user": each.name}} for each in USERS],
        "current-context": USERS[0].name,
    }
    return json.dumps(found, indent=2) + "\n"
