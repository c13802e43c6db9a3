"""The table of tensors that autograd saves for the backward pass, operation by operation.

It describes lmfast's own model, eager or compiled, with fused or explicit attention; tests compare
it with what ``torch.autograd.graph.saved_tensors_hooks`` sees. Views of one storage count once.
A compiled model computes again what is cheap: it keeps operands of products and what restores them.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from lmfast.accounting.architecture import Architecture
from lmfast.accounting.parallelism import Parallelism
from lmfast.accounting.recipes import Recipe

Attention = Literal["sdpa", "explicit"]

FP32 = 4
INT64 = 8
BOOL = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTensor:
    """One row of the table."""

    module: str
    name: str
    elements: int
    width: int
    """Bytes per element."""
    split: bool = False
    """Tensor parallelism divides it; what is not split every rank holds whole (Korthikanti et al.,
    2022, section 4.2.1), unless sequence parallelism divides that as well."""
    core: bool = False
    """Between the projections of attention: what selective checkpointing computes again."""

    @property
    def bytes(self) -> int:
        """Bytes of the tensor."""
        return self.elements * self.width


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """A micro-batch on its way through a model: what the size of every saved tensor depends on."""

    shape: Architecture
    recipe: Recipe
    batch: int
    length: int
    attention: Attention = "sdpa"
    compiled: bool = False
    parallelism: Parallelism

    @property
    def tokens(self) -> int:
        """Tokens of the micro-batch."""
        return self.batch * self.length


def block_tensors(run: Pass) -> tuple[SavedTensor, ...]:
    """What one block saves, autocast copies of its weights left out."""
    return (
        *_norm(run, "attention"),
        *_linear_input(run, "attention", "qkv input", run.shape.d_model, readers=3),
        *(_qk_norm(run) if run.shape.qk_norm else ()),
        *(_sdpa(run) if run.attention == "sdpa" else _explicit(run)),
        *_norm(run, "feed_forward"),
        *_feed_forward(run),
    )


def embedding_tensors(run: Pass) -> tuple[SavedTensor, ...]:
    """What the embedding saves: the ids that it looked up."""
    looked_up = SavedTensor(module="embedding", name="ids", elements=run.tokens, width=INT64)
    if run.shape.positions == "rotary":
        return (looked_up,)
    positions = SavedTensor(module="embedding", name="positions", elements=run.length, width=INT64)
    return looked_up, positions


def head_tensors(run: Pass) -> tuple[SavedTensor, ...]:
    """What the last norm, the head and the cross-entropy in fp32 save."""
    tokens, vocab = run.tokens, run.shape.vocab_size
    return (
        *_norm(run, "head"),
        *_linear_input(run, "head", "head input", run.shape.d_model, readers=1),
        SavedTensor(
            module="loss", name="log-probabilities", elements=tokens * vocab, width=FP32, split=True
        ),
        SavedTensor(module="loss", name="targets", elements=tokens, width=INT64),
    )


def block_input(run: Pass) -> SavedTensor:
    """The residual stream before a block: all that a checkpoint of it keeps."""
    return SavedTensor(
        module="checkpoint",
        name="block input",
        elements=run.tokens * run.shape.d_model,
        width=run.recipe.residual,
    )


def cast_weight_bytes(run: Pass, matmul_parameters: int) -> int:
    """Bytes of the copies of weights that autocast makes and linear layers save."""
    held = -(-matmul_parameters // run.parallelism.tensor)
    return run.recipe.compute * held if run.recipe.autocast else 0


def total_bytes(run: Pass, tensors: Iterable[SavedTensor]) -> int:
    """Bytes of all the tensors together on one device."""
    share = run.parallelism.activation_share
    return math.ceil(sum(tensor.bytes * share(tensor.split) for tensor in tensors))


def _norm(run: Pass, module: str) -> list[SavedTensor]:
    """Norms work in fp32 whatever they are given: of a narrower input they save a wide copy."""
    features = run.tokens * run.shape.d_model
    if run.shape.norm == "layernorm":
        width = run.recipe.residual
        return [
            SavedTensor(module=module, name="norm input", elements=features, width=width),
            SavedTensor(module=module, name="mean and 1/std", elements=2 * run.tokens, width=FP32),
        ]
    if run.compiled:
        width = run.recipe.residual
        return [
            SavedTensor(module=module, name="norm input", elements=features, width=width),
            SavedTensor(module=module, name="1/rms", elements=run.tokens, width=FP32),
        ]
    return [
        SavedTensor(module=module, name="norm input", elements=features, width=FP32),
        SavedTensor(module=module, name="1/rms", elements=run.tokens, width=FP32),
        SavedTensor(module=module, name="normalised input", elements=features, width=FP32),
    ]


def _linear_input(
    run: Pass, module: str, name: str, width: int, readers: int, split: bool = False
) -> list[SavedTensor]:
    """The input of linear layers: one tensor for all, but eager autocast casts it for each."""
    wide = run.recipe.residual > run.recipe.compute and not run.compiled
    return [
        SavedTensor(
            module=module,
            name=f"{name} (cast for each of {readers})" if wide and readers > 1 else name,
            elements=run.tokens * width * (readers if wide else 1),
            width=run.recipe.compute,
            split=split,
        )
    ]


def _qk_norm(run: Pass) -> list[SavedTensor]:
    """RMSNorm of each head's queries and keys; autocast also keeps the two weights cast."""
    rows = run.tokens * (run.shape.n_head + run.shape.n_kv_head)
    features = rows * run.shape.d_head
    cells = [
        ("q and k before the norm", features, run.recipe.compute if run.compiled else FP32),
        ("1/rms of q and k", rows, FP32),
    ]
    if not run.compiled:
        cells.append(("normalised q and k", features, FP32))
    if run.recipe.autocast:
        cells.append(("weights of q and k norm", 2 * run.shape.d_head, run.recipe.compute))
    return [
        SavedTensor(module="attention", name=name, elements=count, width=width, split=True)
        for name, count, width in cells
    ]


def _attention_row(name: str, elements: int, width: int, core: bool = False) -> SavedTensor:
    return SavedTensor(
        module="attention", name=name, elements=elements, width=width, split=True, core=core
    )


def _sdpa(run: Pass) -> list[SavedTensor]:
    """A fused kernel saves its inputs, its output and one number per row of scores."""
    shape, tokens, width = run.shape, run.tokens, run.recipe.compute
    rows = [
        _attention_row("q", tokens * shape.d_query, width),
        _attention_row("k", tokens * shape.d_key, width),
        _attention_row("v", tokens * shape.d_key, width),
        _attention_row("log-sum-exp of scores", tokens * shape.n_head, FP32, core=True),
        # Joining the heads copies; with one head it is a view, and the two rows are one.
        _attention_row(
            "mixed values",
            tokens * shape.d_query,
            width,
            core=shape.n_head > 1,
        ),
    ]
    if shape.n_head > 1:
        rows.append(_attention_row("mixed values, heads joined", tokens * shape.d_query, width))
    return rows


def _explicit(run: Pass) -> list[SavedTensor]:
    """Two products and a softmax; keys and values are repeated for the queries that share them."""
    shape, tokens, width = run.shape, run.tokens, run.recipe.compute
    square = run.batch * shape.n_head * run.length * run.length
    if run.compiled:
        return _compiled_explicit(run, square)
    return [
        _attention_row("q", tokens * shape.d_query, width),
        _attention_row("k, one per query head", tokens * shape.d_query, width),
        _attention_row("v, one per query head", tokens * shape.d_query, width),
        SavedTensor(module="attention", name="mask", elements=run.length**2, width=BOOL, core=True),
        _attention_row("attention probabilities", square, width, core=True),
        _attention_row("mixed values, heads joined", tokens * shape.d_query, width),
    ]


def _compiled_explicit(run: Pass, square: int) -> list[SavedTensor]:
    """Scores with the two numbers per row that restore their softmax, and gathered angles.

    That is a softmax written out and angles looked up by position. torch's own softmax and a slice
    of the table of angles do without the small rows, which are a thousandth of a block.
    """
    shape, tokens, width = run.shape, run.tokens, run.recipe.compute
    rows = [
        _attention_row("q", tokens * shape.d_query, width),
        _attention_row("k, one per query head", tokens * shape.d_query, width),
        _attention_row("v, one per query head", tokens * shape.d_query, width),
        _attention_row("scores", square, width, core=True),
        _attention_row("row maxima and row sums", 2 * tokens * shape.n_head, FP32, core=True),
        _attention_row("mixed values", tokens * shape.d_query, width),
    ]
    if shape.positions == "rotary":
        # A cosine and a sine per pair of features, once for q and once for k.
        angles = 2 * run.length * shape.d_head
        rows.append(SavedTensor(module="attention", name="angles", elements=angles, width=FP32))
    return rows


def _feed_forward(run: Pass) -> list[SavedTensor]:
    shape = run.shape
    gated = shape.feed_forward == "swiglu"
    name = "gate and up input" if gated else "up input"
    rows = _linear_input(run, "feed_forward", name, shape.d_model, readers=2 if gated else 1)
    inner = ["gate", "silu(gate)", "up", "down input"] if gated else ["up", "down input"]
    if gated and run.compiled:
        inner.remove("silu(gate)")
    elements = run.tokens * shape.d_ff * shape.experts_per_token
    rows += [
        SavedTensor(
            module="feed_forward",
            name=name,
            elements=elements,
            width=run.recipe.compute,
            split=True,
        )
        for name in inner
    ]
    if shape.has_router:
        # Each expert gathers its own tokens, so their rows are held once per chosen expert.
        gathered = run.tokens * shape.d_model * shape.n_active_expert
        rows += [
            SavedTensor(
                module="feed_forward",
                name="rows gathered for experts",
                elements=gathered,
                width=run.recipe.compute,
            ),
            SavedTensor(
                module="feed_forward",
                name="router probabilities",
                elements=run.tokens * shape.n_expert,
                width=FP32,
            ),
        ]
    return rows
