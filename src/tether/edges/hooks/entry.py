"""What agents' settings run: `<python> -I <this file> <agent>`. Never run from, or importing, the project."""

import sys

if __name__ == "__main__":
    try:
        # -I keeps the working directory, this folder and PYTHONPATH out of sys.path
        if not sys.flags.isolated:
            raise RuntimeError("run me with -I")
        from tether.edges.hooks import main

        code = main(sys.argv[1:])
    except BaseException as error:
        code = 2
        if sys.stderr is not None:
            sys.stderr.write(
                f"Tether could not start ({type(error).__name__}: {error}); the tool is blocked\n"
            )
    import os

    # skip interpreter teardown: every file and transaction is closed or committed by now
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, AttributeError):
        code = 2  # nobody heard the answer

    os._exit(code)
