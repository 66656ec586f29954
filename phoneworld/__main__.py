"""`python -m phoneworld`: the command line, where its script is not on the path."""

from phoneworld.cli.main import main

if __name__ == "__main__":
    main()
