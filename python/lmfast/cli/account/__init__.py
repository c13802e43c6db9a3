"""``lmfast account``: what training costs, before it starts; one module per subcommand."""

import typer

from lmfast.cli.account import check, duration, flops, memory, params

account_app = typer.Typer(
    name="account",
    no_args_is_help=True,
    help="Know the cost before, check it after: parameters, FLOPs, memory, time. Needs no torch.",
)
account_app.command("params")(params.params)
account_app.command("flops")(flops.flops)
account_app.command("memory")(memory.memory)
account_app.command("time")(duration.time)
account_app.command("check")(check.check)
