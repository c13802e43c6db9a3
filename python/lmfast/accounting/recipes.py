"""Precision recipes: in how many bytes each parameter, its gradient and its moments are held."""

from dataclasses import dataclass, replace

from lmfast.accounting.quantity import Quantity
from lmfast.config.checks import require

MOMENTS: dict[str, int] = {"adamw": 2, "momentum": 1, "sgd": 0}
"""Numbers that an optimizer keeps per parameter; Muon keeps one, as momentum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Bytes per parameter, and the widths in which the model computes."""

    name: str
    parameter: int
    gradient: int
    moment: int
    """Per moment of the optimizer."""
    moments: int = 2
    """Moments that the optimizer keeps; AdamW's two."""
    master: int = 0
    """A second, wider copy of the weights that the optimizer updates."""
    compute: int
    """Operands of matrix multiplications."""
    residual: int
    """The stream between blocks."""
    autocast: bool = False
    """Weights are cast where they are used, and the cast copies live until the backward pass."""
    meaning: str


RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="fp32",
            parameter=4,
            gradient=4,
            moment=4,
            compute=4,
            residual=4,
            meaning="everything in fp32: 16 bytes per parameter with AdamW",
        ),
        Recipe(
            name="amp-bf16",
            parameter=4,
            gradient=4,
            moment=4,
            compute=2,
            residual=4,
            autocast=True,
            meaning="fp32 weights, torch.autocast to bf16: 16 bytes per parameter with AdamW, "
            "and 2 more per weight of a matmul while activations are held; lmfast's trainer",
        ),
        Recipe(
            name="bf16",
            parameter=2,
            gradient=2,
            moment=4,
            compute=2,
            residual=2,
            meaning="bf16 weights and gradients, fp32 moments: 12 bytes per parameter with AdamW",
        ),
        Recipe(
            name="bf16-master",
            parameter=2,
            gradient=2,
            moment=4,
            master=4,
            compute=2,
            residual=2,
            meaning="bf16 weights and gradients, fp32 master weights and moments: 16 bytes per "
            "parameter with AdamW",
        ),
        Recipe(
            name="bf16-fp32-grads",
            parameter=2,
            gradient=4,
            moment=4,
            master=4,
            compute=2,
            residual=2,
            meaning="as bf16-master, gradients gathered in fp32 (Megatron-LM): 18 bytes per "
            "parameter with AdamW",
        ),
    )
}


def find_recipe(recipe: str | Recipe) -> Recipe:
    """The recipe of that name.

    Raises:
        ConfigError: There is no such recipe.
    """
    if isinstance(recipe, Recipe):
        return recipe
    require(recipe in RECIPES, "recipe", recipe, f"it must be one of {', '.join(RECIPES)}")
    return RECIPES[recipe]


def trainer_recipe(precision: str) -> Recipe:
    """The recipe by which lmfast's trainer computes in ``fp32`` or ``bf16``."""
    return RECIPES["amp-bf16" if precision == "bf16" else "fp32"]


def with_optimizer(recipe: str | Recipe, optimizer: str) -> Recipe:
    """The recipe with another optimizer than AdamW: ``momentum`` (also Muon) or ``sgd``.

    Raises:
        ConfigError: There is no such recipe or optimizer.
    """
    require(optimizer in MOMENTS, "optimizer", optimizer, f"it must be one of {', '.join(MOMENTS)}")
    return replace(find_recipe(recipe), moments=MOMENTS[optimizer])


def bytes_per_parameter(recipe: str | Recipe) -> Quantity:
    """Bytes held per parameter for as long as training lasts."""
    found = find_recipe(recipe)
    pieces = [
        ("parameter", found.parameter),
        ("gradient", found.gradient),
        ("master_weight", found.master),
        ("optimizer_state", found.moments * found.moment),
    ]
    parts = tuple(
        Quantity(name=name, value=value, unit="byte", formula=f"{value} bytes")
        for name, value in pieces
    )
    return Quantity(
        name="bytes_per_parameter",
        value=sum(value for _, value in pieces),
        unit="byte",
        formula=" + ".join(str(value) for _, value in pieces),
        convention=f"{found.name}: {found.meaning}",
        parts=parts,
    )
