"""`python -m tether`."""

import sys

from tether.cli.__main__ import main

sys.exit(main())
