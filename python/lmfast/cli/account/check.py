"""``lmfast account check``."""

from lmfast.accounting import check_6nd, load_model_shape
from lmfast.cli.account.options import ContextOption, JsonOption, ModelOption, SetOption
from lmfast.cli.account.show import emit


def check(
    model: ModelOption = None,
    context_length: ContextOption = None,
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say how far 6·N·D is from the exact count for a model and a context, and why.

    Example: lmfast account check --model gpt2-small --context-length 1024
    """
    result = check_6nd(load_model_shape(model, set_ or ()), context_length)
    data = {
        "ratio": result.value,
        "flops_per_token": {part.name: part.value for part in result.parts},
        "formula": result.formula,
    }
    emit(as_json, data, result)
