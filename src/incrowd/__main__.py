"""`python -m incrowd`: the command line, where its script is not on the path."""

from incrowd.cli import main

main()
