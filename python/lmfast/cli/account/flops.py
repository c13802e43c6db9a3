"""``lmfast account flops``."""

from lmfast.accounting import count_flops, load_model_shape
from lmfast.accounting.flops import Convention
from lmfast.cli.account.options import (
    CheckpointingOption,
    ContextOption,
    ConventionOption,
    ModelOption,
)
from lmfast.cli.account.show import emit
from lmfast.cli.options import JsonOption, SetOption


def flops(
    model: ModelOption = None,
    context_length: ContextOption = None,
    convention: ConventionOption = "palm",
    checkpointing: CheckpointingOption = "none",
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count the FLOPs of one sequence, product by product, under a named convention.

    A product of (m, k) by (k, n) is 2·m·k·n FLOPs. The backward pass does twice the forward's.
    Attention grows with the square of the context: compare --context-length 1024 with 16384.

    Example: lmfast account flops --model xl --context-length 16384
    """
    shape = load_model_shape(model, set_ or ())
    named: Convention = convention  # type: ignore[assignment]  # the library checks it
    counted = count_flops(shape, context_length, convention=named, checkpointing=checkpointing)
    shares = ", ".join(f"{name} {share:.1%}" for name, share in counted.shares().items())
    per_token = f"per token: {counted.per_token(counted.forward)}, {counted.per_token()}"
    emit(
        as_json,
        counted.to_dict(),
        counted.training,
        f"\nshares of the forward pass: {shares}",
        per_token,
    )
