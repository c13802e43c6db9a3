"""The options that the subcommands share."""

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
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Replace one setting; may be repeated."),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Plain SI numbers under named keys, for programs.")
]
ContextOption = Annotated[
    int | None,
    typer.Option("--context-length", metavar="T", help="Tokens; default: the model's own."),
]
CheckpointingOption = Annotated[
    str, typer.Option("--checkpointing", help="none, selective, full or every-K (blocks).")
]
ConventionOption = Annotated[
    str, typer.Option("--convention", help="6nd, palm, causal or hardware.")
]
BatchOption = Annotated[int, typer.Option("--batch", help="Sequences in one forward pass.")]
RecipeOption = Annotated[
    str,
    typer.Option("--recipe", help="fp32, amp-bf16, bf16, bf16-master or bf16-fp32-grads."),
]
