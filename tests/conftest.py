"""One hypothesis profile: no deadline, since the first call compiles, and the same examples on every machine.

The certificates of tests/certified.py and the points of tests/made_up.py are fixtures for all tests.
"""

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")

pytest_plugins = ["certified", "made_up"]
