"""``python -m lmfast.cli`` is ``lmfast``."""

from lmfast.cli import main

main()
