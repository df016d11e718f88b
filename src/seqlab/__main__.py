"""`python -m seqlab` runs the command `seqlab`."""

from seqlab.cli.main import main

if __name__ == "__main__":
    main()
