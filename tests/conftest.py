"""One hypothesis profile: no deadline, since the first call compiles, and the same examples on every machine."""

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")
