"""The command `tidegate`: which verbs are there, and how does every one of them end?

Verbs are imported when they are used: `tidegate --help` reads only the table below. Whatever a verb raises becomes a
code, a sentence and a hint on standard error, and an exit code (`control.cli.failure`). A traceback goes to a file.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

import click

EXAMPLES = """
\b
A first run:
  tidegate up --detach                      start the laptop's mesh
  tidegate apply shift.yaml                 say what should move
  tidegate status -w                        watch it move
  tidegate explain                          ask why it is where it is
  tidegate down                             stop, and leave nothing behind but the ledger

\b
Exit codes: 0 done, 1 failed, 2 bad input, 3 rolled back, 4 timed out, 5 nothing answers, 70 a bug of ours,
130 interrupted. Errors go to standard error as text, also with -o json.
"""


@dataclass(frozen=True, slots=True)
class Verb:
    """Where a command is (module:name) and its one line in the list; the section that it stands under."""

    path: str
    summary: str
    section: str


LAPTOP, SHIFT, MOVE, MESH, SELF = "On a laptop", "See a shift", "Move a shift", "The mesh", "About tidegate"
VERBS: Mapping[str, Verb] = {
    "up": Verb("control.local.up:command", "Start the laptop's mesh.", LAPTOP),
    "down": Verb("control.local.down:command", "Stop it and leave nothing behind but the ledger.", LAPTOP),
    "demo": Verb(
        "control.local.demo:command", "Move real traffic from v1 to v2 under load, then tell how it went.", LAPTOP
    ),
    "translate": Verb("control.cli.verbs.translate:command", "Translate texts through the ingress gateway.", LAPTOP),
    "list": Verb("control.cli.verbs.get:list_command", "List the shifts.", SHIFT),
    "get": Verb("control.cli.verbs.get:command", "Print shifts as they are stored.", SHIFT),
    "status": Verb("control.cli.verbs.status:command", "Show one shift; -w watches it.", SHIFT),
    "explain": Verb("control.cli.verbs.explain:command", "Say why a shift is where it is and what moves it.", SHIFT),
    "history": Verb("control.cli.verbs.history:command", "Tell what happened, and who did it.", SHIFT),
    "report": Verb("control.cli.verbs.report:command", "Compare both versions, metric by metric, as a page.", SHIFT),
    "ledger": Verb("control.cli.verbs.ledger:command", "Tell what earlier shifts found, and what they teach.", SHIFT),
    "wait": Verb("control.cli.verbs.wait:command", "Wait until a shift gets somewhere; the exit code tells.", SHIFT),
    "plan": Verb(
        "control.cli.verbs.plan:command", "Show the steps and the time they take, before anything runs.", MOVE
    ),
    "simulate": Verb(
        "control.cli.verbs.simulate:command", "Tell how a shift would go: each end's chance, time and price.", MOVE
    ),
    "apply": Verb("control.cli.verbs.apply:command", "Create or change shifts from files.", MOVE),
    "diff": Verb("control.cli.verbs.diff:command", "Show which lines of which document the next step changes.", MOVE),
    "promote": Verb("control.cli.verbs.promote:command", "Go to the next step now, or all the way.", MOVE),
    "rollback": Verb("control.cli.verbs.rollback:command", "Give all traffic back to the stable version.", MOVE),
    "pause": Verb("control.cli.verbs.pause:command", "Stay at this share until resumed.", MOVE),
    "resume": Verb("control.cli.verbs.resume:command", "Go on after pause or suspend.", MOVE),
    "suspend": Verb("control.cli.verbs.suspend:command", "Hands off: write no weight until resumed.", MOVE),
    "retry": Verb("control.cli.verbs.retry:command", "Start again after a rollback.", MOVE),
    "delete": Verb("control.cli.verbs.delete:command", "Delete a shift.", MOVE),
    "lint": Verb("control.cli.verbs.lint:command", "Check mesh documents and shifts in files and folders.", MESH),
    "mesh": Verb("control.cli.verbs.mesh:command", "Run Istio documents on real Envoys.", MESH),
    "dev": Verb("control.local.cluster.command:command", "Run a small cluster: API server and istiod.", SELF),
    "doctor": Verb("control.cli.verbs.doctor:command", "Look at all that a shift needs, and say what to do.", SELF),
    "version": Verb("control.cli.verbs.version:command", "Print the versions of the tool and the controller.", SELF),
    "completion": Verb(
        "control.cli.verbs.completion:command", "Print a script that completes commands in a shell.", SELF
    ),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for, and listed without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        verb = VERBS.get(cmd_name)
        if verb is None:
            return None
        module, _, name = verb.path.partition(":")
        found: click.Command = getattr(import_module(module), name)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in VERBS:
            raise click.UsageError(f"there is no command {args[0]!r}.{nearest(args[0])}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for section in dict.fromkeys(verb.section for verb in VERBS.values()):
            with formatter.section(section):
                formatter.write_dl([(name, verb.summary) for name, verb in VERBS.items() if verb.section == section])


def nearest(word: str) -> str:
    """Example: " Did you mean status?" for "statsu"."""
    from difflib import get_close_matches

    found = get_close_matches(word, VERBS, n=1)
    return f" Did you mean {found[0]}?" if found else ""


@click.group(
    cls=LazyGroup, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with plain ASCII signs only.")
@click.option("--kubeconfig", metavar="FILE", help="Work on the cluster of this file. [TIDEGATE_KUBERNETES]")
@click.option("--context", metavar="NAME", help="Work on the cluster of this context. [TIDEGATE_KUBE_CONTEXT]")
@click.pass_context
def cli(ctx: click.Context, ascii_only: bool, kubeconfig: str | None, context: str | None) -> None:
    """Tidegate moves live traffic from one version of a service to the next on Istio, one measured step at a time, and
    shuts by itself when the tide turns."""
    ctx.obj = {"ascii": ascii_only, "kubeconfig": kubeconfig, "context": context}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line. The result is the exit code."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        result = cli.main(args=arguments, prog_name="tidegate", standalone_mode=False)
    except BaseException as error:
        from control.cli.failure import report

        return report(error)
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    sys.exit(main())
