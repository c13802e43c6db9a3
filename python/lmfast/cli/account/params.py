"""``lmfast account params``."""

from dataclasses import replace

from lmfast.accounting import Quantity, count_parameters, load_model_shape
from lmfast.cli.account.options import ModelOption
from lmfast.cli.account.show import emit
from lmfast.cli.options import JsonOption, SetOption


def params(model: ModelOption = None, set_: SetOption = None, as_json: JsonOption = False) -> None:
    """Count a model's parameters, module by module.

    Most sit in the feed-forwards; the share of embedding and head shrinks as the model grows.

    Example: lmfast account params --model gpt2-small --set n_layer=24
    """
    shape = load_model_shape(model, set_ or ())
    every = count_parameters(shape)
    active = count_parameters(shape, "active")
    blocks = count_parameters(shape, "non_embedding")
    bare = count_parameters(replace(shape, bias=False))
    data = {
        "parameters": every.value,
        "active_parameters": active.value,
        "non_embedding_parameters": blocks.value,
        "parameters_without_biases": bare.value,
        "modules": {part.name: part.value for part in every.parts},
        "convention": every.convention,
    }
    note = f"\nwithout embeddings and head: {blocks.known():,}"
    if bare.value != every.value:
        note += f"\nwithout biases, as nanoGPT counts: {bare.known():,}"
    if active.value != every.value:
        note += f"\nmet by one token: {active.known():,}"
    emit(as_json, data, every, note, _shares(every))


def _shares(every: Quantity) -> str:
    whole = every.known()
    shares = [f"{part.name} {part.known() / whole:.1%}" for part in every.parts if part.value]
    return "shares: " + ", ".join(shares)
