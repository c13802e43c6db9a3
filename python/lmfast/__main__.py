"""``python -m lmfast`` is ``lmfast``."""

from lmfast.cli import main

main()
