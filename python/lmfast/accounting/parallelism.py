"""How a training job is spread over devices, and what of the state each of them holds."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from lmfast.accounting.architecture import Architecture
from lmfast.accounting.parameters import count_parameters
from lmfast.config.checks import require, require_positive

ZeroStage = Literal[0, 1, 2, 3]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallelism:
    """Data parallelism with ZeRO sharding (Rajbhandari et al., 2020), and tensor parallelism.

    Raises:
        ConfigError: A count that is not positive, or a stage that does not exist.
    """

    data: int = 1
    """Replicas of the batch; what ZeRO shards over."""
    zero: ZeroStage = 0
    """1 shards optimizer state and master weights, 2 also gradients, 3 also parameters (FSDP)."""
    tensor: int = 1
    """Devices that share every matrix (Megatron-LM)."""
    sequence: bool = False
    """Whether the tensor-parallel group also shares what lies between the matrices."""

    def __post_init__(self) -> None:
        require_positive("parallelism", data=self.data, tensor=self.tensor)
        require(self.zero in (0, 1, 2, 3), "parallelism.zero", self.zero, "it must be 0, 1, 2 or 3")

    @classmethod
    def over(cls, devices: int, *, zero: int = 0, tensor: int = 1) -> "Parallelism":
        """``devices`` in groups of ``tensor`` that share matrices; the groups are replicas.

        Raises:
            ConfigError: The devices do not fill the groups, or there is no such stage.
        """
        require_positive("parallelism", devices=devices, tensor=tensor)
        accepted = f"it must divide the {devices} devices"
        require(devices % tensor == 0, "parallelism.tensor", tensor, accepted)
        # The constructor refuses a stage that does not exist.
        return cls(data=devices // tensor, zero=zero, tensor=tensor)  # type: ignore[arg-type]

    @property
    def devices(self) -> int:
        """Devices in all."""
        return self.data * self.tensor

    def check(self, shape: Architecture) -> None:
        """Refuse a model whose heads or feed-forward tensor parallelism cannot share evenly.

        Raises:
            ConfigError: It does not divide them.
        """
        for name, found in (("n_kv_head", shape.n_kv_head), ("d_ff", shape.d_ff)):
            accepted = f"it must divide {name} = {found}"
            require(found % self.tensor == 0, "parallelism.tensor", self.tensor, accepted)

    def share(self, *, from_stage: int) -> Fraction:
        """The part of a tensor that one replica holds, if ZeRO shards it from that stage on."""
        return Fraction(1, self.data) if self.zero >= from_stage else Fraction(1)

    def activation_share(self, split: bool) -> Fraction:
        """The part of a saved tensor that one rank of the tensor-parallel group holds."""
        return Fraction(1, self.tensor) if split or self.sequence else Fraction(1)

    def parameters(self, shape: Architecture) -> int:
        """Parameters of one tensor-parallel rank: matrices are shared, norms are whole."""
        counted = count_parameters(shape)
        whole = int(counted["norm"].known())
        return whole + -(-(int(counted.known()) - whole) // self.tensor)

    def unit(self, shape: Architecture) -> int:
        """Parameters of the largest piece that FSDP gathers at once: a block, or an embedding."""
        counted = count_parameters(shape)
        tables = int(counted["embedding"].known())
        blocks = int(counted["attention"].known() + counted["feed_forward"].known())
        return -(-max(tables, blocks // shape.n_layer) // self.tensor)
