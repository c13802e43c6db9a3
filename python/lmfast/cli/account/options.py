"""The options that the subcommands of ``account`` share."""

from pathlib import Path
from typing import Annotated

import typer

ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME|FILE",
        help="A published model such as gpt2-small or llama3-8b, or a TOML file.",
    ),
]
ContextOption = Annotated[
    int | None,
    typer.Option("--context-length", metavar="T", help="Tokens; default: the model's own."),
]
CheckpointingOption = Annotated[
    str, typer.Option("--checkpointing", help="none, selective, full, every-K or first-K blocks.")
]
ConventionOption = Annotated[
    str, typer.Option("--convention", help="6nd, palm, causal or hardware.")
]
BatchOption = Annotated[int, typer.Option("--batch", help="Sequences in one forward pass.")]
RecipeOption = Annotated[
    str,
    typer.Option("--recipe", help="fp32, amp-bf16, bf16, bf16-master or bf16-fp32-grads."),
]
DtypeOption = Annotated[
    str, typer.Option("--dtype", help="fp32, tf32, fp16, bf16, fp8 or fp4: the type computed in.")
]
HardwareOption = Annotated[
    str, typer.Option("--hardware", help="A device such as h100-sxm; account hardware lists them.")
]
MaybeHardwareOption = Annotated[
    str | None,
    typer.Option("--hardware", help="A device such as h100-sxm; account hardware lists them."),
]
DevicesOption = Annotated[int, typer.Option("--devices", help="How many devices.")]
MfuOption = Annotated[
    float, typer.Option("--mfu", help="Part of the peak that is reached, an assumption.")
]
ZeroOption = Annotated[
    int, typer.Option("--zero", help="ZeRO stage 0 to 3; 3 is FSDP. It shards over the replicas.")
]
TensorOption = Annotated[int, typer.Option("--tensor", help="Devices that share every matrix.")]
PictureOption = Annotated[
    Path | None,
    typer.Option("--picture", help="Also draw it, to a .png, .svg or .pdf; needs matplotlib."),
]
