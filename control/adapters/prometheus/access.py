"""Who are we to Prometheus? Basic or bearer credentials, extra headers, certificates; secrets are read anew for each
question, so that a token that rotates is never an old one.
"""

import base64
import ssl
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from control.errors import Problem, SpecError, Unavailable

SCHEMES = ("http", "https")
CONTROL = "\r\n\0"
DAY_S = 86_400
TIMES = "more than 0 and less than a day"


@dataclass(frozen=True, slots=True)
class Access:
    """Where Prometheus is, what it is shown, and how often it scrapes. Files that are not set are None.

    Units: `timeout_s` is for one question, its answer included.
    """

    url: str
    user: str = ""
    password_file: Path | None = None
    bearer_file: Path | None = None
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    timeout_s: float = 5.0
    interval: timedelta = timedelta(seconds=15)

    @property
    def place(self) -> str:
        """The address as sentences name it."""
        return self.url.rstrip("/")

    def endpoint(self, path: str) -> str:
        """Example: `query` of http://prometheus:9090/team is http://prometheus:9090/team/api/v1/query."""
        return f"{self.place}/api/v1/{path}"

    def shown(self) -> dict[str, str]:
        """The headers of one question. Raises Unavailable when a secret can't be read."""
        headers = dict(self.headers)
        if self.bearer_file is not None:
            headers["Authorization"] = f"Bearer {_secret(self.bearer_file)}"
        elif self.user:
            password = _secret(self.password_file) if self.password_file is not None else ""
            pair = base64.b64encode(f"{self.user}:{password}".encode()).decode()
            headers["Authorization"] = f"Basic {pair}"
        return headers

    def tls(self) -> ssl.SSLContext | None:
        """How its certificate is checked, and ours is shown; None for plain HTTP. Raises Unavailable."""
        if not self.url.startswith("https:"):
            return None
        try:
            context = ssl.create_default_context(cafile=self.ca)
            if self.certificate is not None:
                context.load_cert_chain(self.certificate, self.key)
        except (OSError, ssl.SSLError) as error:
            files = ", ".join(str(each) for each in (self.ca, self.certificate, self.key) if each)
            raise Unavailable(f"the certificates for Prometheus can't be used: {error}", hint=f"see {files}") from error
        return context


def access(
    url: str,
    *,
    headers: str,
    user: str,
    password_file: str,
    bearer_file: str,
    ca: str,
    cert: str,
    key: str,
    timeout_s: float,
    scrape_s: float,
) -> Access:
    """Access from settings; empty texts are not set. Raises SpecError with everything that does not fit."""
    pairs = [each for each in (part.strip() for part in headers.split(";")) if each]
    problems = [*_url_problems(url), *_pair_problems(user, password_file, bearer_file, cert, key)]
    problems += [f"a header is {pair.split(':')[0]!r}, expected `Name: value`" for pair in pairs if not _fits(pair)]
    times = {"the time-out": timeout_s, "the scrape interval": scrape_s}
    problems += [f"{name} is {value} s, expected {TIMES}" for name, value in times.items() if not 0 < value < DAY_S]
    if problems:
        raise SpecError([Problem("environment", 0, 0, f"Prometheus: {each}") for each in problems])
    return Access(
        url=url,
        user=user,
        password_file=_file(password_file),
        bearer_file=_file(bearer_file),
        headers=tuple((name.strip(), value.strip()) for name, _, value in (pair.partition(":") for pair in pairs)),
        ca=_file(ca),
        certificate=_file(cert),
        key=_file(key),
        timeout_s=timeout_s,
        interval=timedelta(seconds=scrape_s),
    )


def _url_problems(url: str) -> list[str]:
    parts = urlsplit(url)
    if parts.username or parts.password:
        return ["the address holds a user or a password; they have settings of their own"]
    if parts.scheme not in SCHEMES or not parts.hostname or parts.query or parts.fragment:
        return [f"the address is {url!r}, expected http://host:port or https://host:port, with a path if need be"]
    return []


def _pair_problems(user: str, password_file: str, bearer_file: str, cert: str, key: str) -> list[str]:
    problems = []
    if bearer_file and (user or password_file):
        problems.append("both a bearer token and a user are set; it takes one of them")
    if password_file and not user:
        problems.append("a password is set, and no user")
    if key and not cert:
        problems.append("the key of a certificate is set, and no certificate")
    return problems


def _fits(pair: str) -> bool:
    name, colon, value = pair.partition(":")
    return bool(colon and name.strip() and value.strip()) and not any(each in pair for each in CONTROL)


def _file(text: str) -> Path | None:
    return Path(text).expanduser() if text else None


def _secret(file: Path) -> str:
    try:
        secret = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Unavailable(f"the secret for Prometheus can't be read: {file}: {error}", hint="is it mounted?") from error
    if not secret or any(each in secret for each in CONTROL):
        raise Unavailable(f"the secret for Prometheus is empty or has several lines: {file}")
    return secret
