"""`python -m skillc` is `skc`."""

from skillc.startup import start

if __name__ == "__main__":
    start()

    from skillc.cli import run_and_exit

    run_and_exit()
