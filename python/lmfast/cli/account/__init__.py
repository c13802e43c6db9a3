"""``lmfast account``: what training costs, before it starts; one module per subcommand."""

import typer

from lmfast.cli.account import (
    check,
    dtypes,
    duration,
    flops,
    hardware,
    measure,
    memory,
    params,
    plan,
    roofline,
    vocab,
)

account_app = typer.Typer(
    name="account",
    no_args_is_help=True,
    help="Know the cost before, check it after: parameters, FLOPs, memory, time. Needs no torch.",
)
account_app.command("dtypes")(dtypes.dtypes)
account_app.command("params")(params.params)
account_app.command("flops")(flops.flops)
account_app.command("memory")(memory.memory)
account_app.command("roofline")(roofline.roofline)
account_app.command("time")(duration.time)
account_app.command("plan")(plan.plan)
account_app.command("hardware")(hardware.hardware)
account_app.command("measure")(measure.measure)
account_app.command("vocab")(vocab.vocab)
account_app.command("check")(check.check)
