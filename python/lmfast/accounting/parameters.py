"""How many parameters a model has, module by module."""

from typing import Literal

from lmfast.accounting.architecture import Architecture, as_architecture
from lmfast.accounting.quantity import Quantity, total
from lmfast.config import ModelConfig

Which = Literal["total", "active", "non_embedding"]

CONVENTIONS: dict[Which, str] = {
    "total": "every trained number once; a tied head is counted with the embedding",
    "active": "as total, with only the experts that one token passes through",
    "non_embedding": "as total, without token and position embeddings and an untied head (Kaplan)",
}


def count_parameters(model: ModelConfig, which: Which = "total") -> Quantity:
    """The number of parameters, with a part per module.

    Args:
        model: The shape of the model.
        which: ``total`` is what the checkpoint holds and what Chinchilla's N counts; ``active``
            is what one token meets in a mixture of experts; ``non_embedding`` is N of Kaplan et
            al. (2020).

    Returns:
        Parts ``embedding``, ``position_embedding``, ``attention``, ``feed_forward``, ``norm`` and
        ``head``, all layers taken together; each holds its own parts where it has several.
    """
    shape = as_architecture(model)
    experts = shape.experts_per_token if which == "active" else None
    blocks = [_attention(shape), _feed_forward(shape, experts), _norms(shape)]
    tables: list[Quantity] = []
    if which != "non_embedding":
        tables = [_embedding(shape), _position_embedding(shape)]
        blocks.append(_head(shape))
    return total("parameters", [*tables, *blocks], unit="parameter", convention=CONVENTIONS[which])


def count_matmul_parameters(model: ModelConfig) -> Quantity:
    """The parameters that every token is multiplied by: 2 FLOPs each in the forward pass.

    The head counts also when tied, look-ups (embeddings), norms and biases do not, and of a
    mixture of experts only the active ones count.
    """
    shape = as_architecture(model)
    router = shape.d_model * shape.n_expert if shape.has_router else 0
    attention = shape.n_layer * shape.d_model * 2 * (shape.d_query + shape.d_key)
    expert = _matrices(shape) * shape.d_model * shape.d_ff
    feed_forward = shape.n_layer * (shape.experts_per_token * expert + router)
    return total(
        "matmul_parameters",
        [
            _parameters("attention", attention, "L·d·(2·d_query + 2·d_key)"),
            _parameters(
                "feed_forward", feed_forward, "L·(active experts·matrices·d·d_ff + router)"
            ),
            _parameters("head", shape.d_model * shape.vocab_size, "d·V, tied or not"),
        ],
        unit="parameter",
        convention="weights of matrix multiplications that a token meets",
    )


def _parameters(name: str, value: int, formula: str) -> Quantity:
    return Quantity(name=name, value=value, unit="parameter", formula=formula)


def _modules(name: str, parts: list[Quantity]) -> Quantity:
    return total(name, [part for part in parts if part.value], unit="parameter")


def _matrices(shape: Architecture) -> int:
    return 3 if shape.feed_forward == "swiglu" else 2


def _embedding(shape: Architecture) -> Quantity:
    return _parameters("embedding", shape.vocab_size * shape.d_model, "V·d")


def _position_embedding(shape: Architecture) -> Quantity:
    rows = shape.context_length if shape.positions == "learned" else 0
    formula = "T·d" if rows else "0: rotary positions have no parameters"
    return _parameters("position_embedding", rows * shape.d_model, formula)


def _attention(shape: Architecture) -> Quantity:
    layers, d = shape.n_layer, shape.d_model
    parts = [
        _parameters("query", layers * d * shape.d_query, "L·d·n_head·d_head"),
        _parameters("key", layers * d * shape.d_key, "L·d·n_kv_head·d_head"),
        _parameters("value", layers * d * shape.d_key, "L·d·n_kv_head·d_head"),
        _parameters("output", layers * shape.d_query * d, "L·n_head·d_head·d"),
    ]
    if shape.bias:
        biases = layers * (shape.d_query + 2 * shape.d_key + d)
        parts.append(_parameters("bias", biases, "L·(d_query + 2·d_key + d)"))
    if shape.qk_norm:
        parts.append(_parameters("qk_norm", layers * 2 * shape.d_head, "L·2·d_head"))
    return _modules("attention", parts)


def _feed_forward(shape: Architecture, experts: int | None) -> Quantity:
    """The feed-forwards of all layers, counting ``experts`` of each layer; None counts all."""
    layers, d, d_ff = shape.n_layer, shape.d_model, shape.d_ff
    count = shape.n_expert + shape.n_shared_expert if experts is None else experts
    names = ("gate", "up", "down") if shape.feed_forward == "swiglu" else ("up", "down")
    times = f"L·{count}" if count > 1 else "L"
    parts = [_parameters(name, layers * count * d * d_ff, f"{times}·d·d_ff") for name in names]
    if shape.bias:
        biases = layers * count * ((len(names) - 1) * d_ff + d)
        parts.append(_parameters("bias", biases, f"{times}·({len(names) - 1}·d_ff + d)"))
    if shape.has_router:
        parts.append(_parameters("router", layers * d * shape.n_expert, "L·d·n_expert"))
    return _modules("feed_forward", parts)


def _norms(shape: Architecture) -> Quantity:
    vectors = 2 if shape.norm == "layernorm" and shape.bias else 1
    formula = f"(2·L + 1)·d{'·2' if vectors == 2 else ''}"
    return _parameters("norm", (2 * shape.n_layer + 1) * shape.d_model * vectors, formula)


def _head(shape: Architecture) -> Quantity:
    if shape.tied_embeddings:
        return _parameters("head", 0, "0: tied to the embedding")
    return _parameters("head", shape.d_model * shape.vocab_size, "d·V")
