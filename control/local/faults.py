"""Which faults can a demo give to the new version? Names for people, knobs for the service."""

# Kind -> the translator's own `--fault` text, and what a person should expect to see.
FAULTS: dict[str, tuple[str, str]] = {
    "errors": (
        "errors:0.3:UNAVAILABLE",
        "30 % of its tries answer UNAVAILABLE: retries hide it from callers, attempts show it",
    ),
    "internal": ("internal:0.2", "20 % of its answers are INTERNAL (HTTP 200, gRPC 13)"),
    "crash": ("crash:after=4s", "it dies over and over"),
    "hang": (
        "delay:30s:0.3",
        "30 % of its tries keep their callers waiting until they give up, which is all that shows",
    ),
}


def translator_faults(kind: str | None, version: str = "v2") -> tuple[tuple[str, str], ...]:
    """The faults of `control.local.children.Options` for a kind; empty for none."""
    return ((version, FAULTS[kind][0]),) if kind else ()
