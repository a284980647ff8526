"""Which host does a name in a document mean, and does it match another one? Istio's rules for names and wildcards."""

DOMAIN = "svc.cluster.local"


def full_name(host: str, namespace: str) -> str:
    """`host` fully qualified and in lower case: a name without a dot belongs to the namespace of its document.

    Example: full_name("translator", "default") == "translator.default.svc.cluster.local"
    """
    name = host.lower()
    if "." in name or name.startswith("*"):
        return name
    return f"{name}.{namespace}.{DOMAIN}"


def is_wildcard(host: str) -> bool:
    """Does `host` stand for many hosts?"""
    return host.startswith("*")


def covers(pattern: str, host: str) -> bool:
    """Is every host that `host` stands for among those of `pattern`?

    Example: covers("*.example.com", "a.example.com") and not covers("a.example.com", "*.example.com")
    """
    if is_wildcard(pattern):
        return host.lstrip("*").endswith(pattern[1:])
    return pattern == host


def overlap(left: str, right: str) -> str | None:
    """The more specific of two host patterns when one covers the other, else None."""
    if covers(left, right):
        return right
    return left if covers(right, left) else None


def specificity(host: str) -> tuple[bool, int, str]:
    """Sort key that puts the most specific host first: exact ones, then the longest wildcard."""
    return is_wildcard(host), -len(host), host
