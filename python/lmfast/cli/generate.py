"""``lmfast generate``: text from a trained model."""

import json
import time
from typing import Annotated

import typer

from lmfast.cli.extras import needs_extra
from lmfast.cli.options import JsonOption


def generate(
    run: Annotated[str, typer.Argument(help="Folder of a finished run.")],
    prompt: Annotated[str, typer.Option(help="Text to continue; empty begins a document.")] = "",
    max_tokens: Annotated[int, typer.Option(help="Most tokens to add.")] = 200,
    temperature: Annotated[
        float, typer.Option(help="Lower is less random; 0 always takes the likeliest token.")
    ] = 0.8,
    top_p: Annotated[
        float, typer.Option(help="Draw from the likeliest tokens that hold this much probability.")
    ] = 0.95,
    seed: Annotated[int, typer.Option(help="The same seed gives the same text.")] = 0,
    device: Annotated[str, typer.Option(help="auto, or a torch device such as cpu.")] = "auto",
    as_json: JsonOption = False,
) -> None:
    """Continue a text with a trained model; prints as it goes.

        lmfast generate runs/small --prompt "def main(" --temperature 0.5

    The text ends where the model ends its document, or after --max-tokens.
    """
    with needs_extra("train"):
        from lmfast.model import generate_text, load_run
        from lmfast.training.device import resolve_device
    model, tokenizer = load_run(run, resolve_device(device))
    begin = time.perf_counter()
    pieces = generate_text(
        model,
        tokenizer,
        prompt,
        max_tokens=max_tokens,
        temperature=temperature,
        top_p=top_p,
        seed=seed,
    )
    if not as_json:
        print(prompt, end="", flush=True)
        for piece in pieces:
            print(piece, end="", flush=True)
        print()
        return
    text = "".join(pieces)
    result = {"prompt": prompt, "text": text, "seconds": time.perf_counter() - begin}
    print(json.dumps(result, indent=1))
