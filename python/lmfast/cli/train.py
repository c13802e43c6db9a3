"""``lmfast train``: a training run from a TOML file."""

import dataclasses
import json
import sys
from typing import Annotated

import typer

from lmfast.cli.extras import needs_extra
from lmfast.cli.options import JsonOption, SetOption
from lmfast.config import RunConfig, apply_overrides, from_dict, load_toml


def train(
    config: Annotated[str, typer.Argument(help="TOML file with the settings of the run.")],
    set_: SetOption = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the newest checkpoint, if there is one.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Train a model on token shards.

    The smallest file that works; everything else has a default:

        data.train = "shards/train"
        model.vocab_size = 8192
        schedule.steps = 1000

    Any setting can be changed without touching the file:

        lmfast train run.toml --set model.n_layer=6 --set out=runs/small

    The run folder gets metrics.jsonl, checkpoints and, at the end, the model for
    'lmfast generate'. A run that was killed continues with --resume, and ends up
    as if it had never stopped. Several processes share the work under torchrun:

        torchrun --nproc-per-node 2 -m lmfast.cli train run.toml
    """
    table = apply_overrides(load_toml(config), set_ or ())
    settings = from_dict(RunConfig, table)
    with needs_extra("train"):
        from lmfast.training import Trainer
        from lmfast.training.progress import ConsoleProgress
    trainer = Trainer(settings)
    if trainer.world.is_main:
        with ConsoleProgress(settings) as progress:
            summary = trainer.fit(
                resume=resume, on_step=progress.on_step, on_evaluation=progress.on_evaluation
            )
        if as_json:
            print(json.dumps(dataclasses.asdict(summary), indent=1))
        else:
            print(f"the trained model is in {summary.out}", file=sys.stderr)
    else:
        trainer.fit(resume=resume)
