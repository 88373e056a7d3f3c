"""Seeds Python and what a snippet's header names, before the snippet starts; then leaves as if it had not been there.

Python imports a module of this name when it starts. Executed by the interpreter of the snippets; standard library only.
"""

import contextlib
import importlib
import os
import random
import sys

SEED, _, NAMES = os.environ.pop("CAPTURE_SEED").partition(":")
del os.environ["PYTHONPATH"]  # what the snippet starts is not seeded
sys.path.remove(os.path.dirname(__file__))
random.seed(int(SEED))
for name in filter(None, NAMES.split(",")):
    module = importlib.import_module(name)
    module.manual_seed(int(SEED)) if name == "torch" else module.random.seed(int(SEED))
here = sys.modules.pop(__name__)
with contextlib.suppress(ImportError):  # the one that this one stood before
    importlib.import_module(__name__)
sys.modules.setdefault(__name__, here)  # whoever imports this module looks for it there
