"""FLOPs of a model, forward and backward, under a named convention.

Only matrix multiplications are counted, as every published convention does; element-wise work is
about one per cent of it and is bound by memory (see ``roofline``).
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

from lmfast.accounting.architecture import Architecture, as_architecture
from lmfast.accounting.checkpointing import Checkpointing, parse_checkpointing
from lmfast.accounting.matmuls import Matmul, forward_matmuls
from lmfast.accounting.parameters import count_parameters
from lmfast.accounting.quantity import Page, Quantity, total
from lmfast.config import ModelConfig
from lmfast.config.checks import require, require_positive

Convention = Literal["6nd", "palm", "causal", "hardware"]
AttentionKernel = Literal["explicit", "flash"]

CONVENTIONS: dict[Convention, str] = {
    "6nd": "6nd: 2·N per token forward, 4·N backward; no attention, look-ups counted as work",
    "palm": "palm: every matmul, attention over the full square (12·L·d·T per token in training)",
    "causal": "causal: as palm, attention over the half that the mask leaves (6·L·d·T)",
    "hardware": "hardware: what is executed, recomputation included",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FlopCount(Page):
    """FLOPs for one sequence; ``per_token`` divides by its length."""

    convention: Convention
    context_length: int
    forward: Quantity
    """With a part per module and, in each, a part per matmul."""
    backward: Quantity
    """With respect to inputs and weights: twice the forward pass."""
    recompute: Quantity
    """What checkpointing computes again; part of ``training`` under ``hardware`` only."""
    training: Quantity
    """Forward and backward; what an MFU divides."""

    def quantities(self) -> tuple[Quantity, ...]:
        """The lines of the page, in order."""
        return self.training, self.per_token(self.forward), self.per_token()

    def per_token(self, quantity: Quantity | None = None) -> Quantity:
        """``quantity`` (by default ``training``) per token."""
        whole = quantity or self.training
        return Quantity(
            name=f"{whole.name}_per_token",
            value=whole.known() / self.context_length,
            unit="FLOP",
            formula=f"{whole.name} / {self.context_length} tokens",
            convention=whole.convention,
        )

    def shares(self) -> dict[str, float]:
        """The part of each module in the forward pass."""
        whole = self.forward.known()
        return {part.name: part.known() / whole for part in self.forward.parts}

    def to_dict(self) -> dict[str, Any]:
        """The count for JSON: plain numbers under named keys."""
        return {
            "convention": self.convention,
            "context_length": self.context_length,
            "forward_flops": self.forward.value,
            "backward_flops": self.backward.value,
            "recompute_flops": self.recompute.value,
            "training_flops": self.training.value,
            "forward_flops_per_token": self.per_token(self.forward).value,
            "training_flops_per_token": self.per_token().value,
            "shares": self.shares(),
            "matmuls": {
                product.name: product.value
                for module in self.forward.parts
                for product in module.parts
            },
            "formula": self.training.formula,
        }


def count_flops(
    model: ModelConfig,
    context_length: int | None = None,
    *,
    convention: Convention = "palm",
    checkpointing: str | Checkpointing = "none",
    attention: AttentionKernel = "explicit",
) -> FlopCount:
    """The FLOPs of one sequence of ``context_length`` tokens (default: the model's own).

    Args:
        model: The shape of the model.
        context_length: Tokens of the sequence.
        convention: ``6nd`` (Kaplan et al., 2020; Chinchilla), ``palm`` (Chowdhery et al., 2022,
            appendix B; the default, since most published MFUs use it), ``causal`` (Megatron-LM)
            or ``hardware``.
        checkpointing: ``none``, ``selective``, ``full``, ``every-K`` or ``first-K``.
        attention: ``flash`` computes the scores again in its backward pass, which ``hardware``
            counts: 5 products for the 2 of the forward pass (Dao et al., 2022).

    Raises:
        ConfigError: A convention or a policy that does not exist, or no tokens.
    """
    accepted = f"it must be one of {', '.join(CONVENTIONS)}"
    require(convention in CONVENTIONS, "convention", convention, accepted)
    require(attention in ("explicit", "flash"), "attention", attention, "explicit or flash")
    shape = as_architecture(model)
    tokens = shape.context_length if context_length is None else context_length
    require_positive("flops", context_length=tokens)
    policy = parse_checkpointing(checkpointing)
    said = CONVENTIONS[convention]
    forward = _forward(shape, tokens, convention, said)
    backward = _backward(forward, convention, attention)
    recompute = _recompute(shape, forward, policy, said)
    parts = [forward, backward] + ([recompute] if convention == "hardware" else [])
    return FlopCount(
        convention=convention,
        context_length=tokens,
        forward=forward,
        backward=backward,
        recompute=recompute,
        training=total("training", parts, unit="FLOP", convention=said),
    )


def check_6nd(model: ModelConfig, context_length: int | None = None) -> Quantity:
    """How far 6·N·D is from the exact count: their ratio, and in ``parts`` why they differ.

    The parts are FLOPs per token of training and add up to 6·N less the exact (``palm``) count:
    attention that 6·N leaves out (negative), and embeddings, norms and biases that it counts as
    multiplications (positive); a tied head is counted once as parameters and once as a product.
    """
    shape = as_architecture(model)
    exact = count_flops(shape, context_length, convention="palm")
    tokens = exact.context_length
    parameters = count_parameters(shape, "active")
    scores = sum(part.known() for part in exact.forward.parts if part.name == "attention_scores")
    attention = -3 * scores / tokens
    lookups: float = 0 if shape.tied_embeddings else 6 * shape.vocab_size * shape.d_model
    lookups += 6 * parameters["position_embedding"].known()
    rest = 6 * parameters.known() - exact.per_token().known() - attention - lookups
    ratio = 6 * parameters.known() * tokens / exact.training.known()

    def part(name: str, value: float, formula: str) -> Quantity:
        return Quantity(name=name, value=value, unit="FLOP", formula=formula)

    return Quantity(
        name="6nd_over_exact",
        value=ratio,
        unit="ratio",
        formula=f"6·N·T / exact, N = {parameters.known():,}, T = {tokens:,}",
        convention=CONVENTIONS["palm"],
        parts=(
            part("attention", attention, "-12·L·d·T: products of activations have no parameters"),
            part("embeddings", lookups, "6·(V·d untied + positions): looked up, not multiplied"),
            part("norms_and_biases", rest, "6·(norms + biases): element-wise"),
        ),
    )


def _forward(shape: Architecture, tokens: int, convention: Convention, said: str) -> Quantity:
    if convention == "6nd":
        parameters = count_parameters(shape, "active").known()
        value, formula = 2 * parameters * tokens, f"2·{parameters}·{tokens}"
        only = Quantity(name="parameters", value=value, unit="FLOP", formula=formula)
        return total("forward", [only], unit="FLOP", formula="2·N·T", convention=said)
    seen = replace(shape, sliding_window=None, full_attention_every=None)
    # A masked product is executed all the same, whether the mask is causal or a window.
    products = forward_matmuls(seen if convention == "hardware" else shape, batch=1, queries=tokens)
    modules: dict[str, list[Quantity]] = {}
    for product in products:
        modules.setdefault(product.module, []).append(_flops_of(product, convention))
    parts = [total(name, members, unit="FLOP") for name, members in modules.items()]
    return total("forward", parts, unit="FLOP", convention=said)


def _flops_of(product: Matmul, convention: Convention) -> Quantity:
    value, formula = product.flops, product.formula
    if convention == "causal" and product.module == "attention_scores":
        # Of T queries that look back on w keys at most, w²/2 look before the start.
        tokens = product.m
        met = product.n if product.name.startswith("scores") else product.k
        value = value * (2 * tokens - met) // (2 * tokens)
        formula += f"·{(2 * tokens - met) / (2 * tokens):.4g}"
    return Quantity(name=product.name, value=value, unit="FLOP", formula=formula)


def _backward(forward: Quantity, convention: Convention, attention: AttentionKernel) -> Quantity:
    again = convention == "hardware" and attention == "flash"

    def twice(name: str, value: float) -> Quantity:
        if again and name == "attention_scores":
            return Quantity(
                name=name, value=5 * int(value) // 2, unit="FLOP", formula="2.5·forward"
            )
        return Quantity(name=name, value=2 * value, unit="FLOP", formula="2·forward")

    parts = [twice(part.name, part.known()) for part in forward.parts]
    formula = "2·forward" + (", 2.5 for scores" if again else "")
    return total("backward", parts, unit="FLOP", formula=formula, convention=forward.convention)


def _recompute(
    shape: Architecture, forward: Quantity, policy: Checkpointing, said: str
) -> Quantity:
    value, formula = 0, "0: nothing is computed again"
    modules = {part.name: part for part in forward.parts}
    if "parameters" in modules or policy.kind == "none":
        formula = formula if policy.kind == "none" else "0: 6nd does not know of it"
    elif policy.kind == "selective":
        value, formula = int(modules["attention_scores"].known()), "scores and mix"
    else:
        # The recomputation ends as soon as everything saved is there again, and the last product
        # of the last block of a group saves only its inputs.
        covered, groups = policy.covered(shape.n_layer), policy.groups(shape.n_layer)
        blocks = int(forward.known() - modules["head"].known())
        down = int(modules["feed_forward"]["down"].known()) // shape.n_layer
        value = blocks * covered // shape.n_layer - down * groups
        formula = f"forward of {covered} blocks - {groups}·down"
    return Quantity(name="recompute", value=value, unit="FLOP", formula=formula, convention=said)
