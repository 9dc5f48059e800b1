"""``python -m allminds`` is the command ``allminds``."""

from allminds.cli import main

main()
