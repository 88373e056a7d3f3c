"""An interpreter in which packages are missing."""

# Its arguments: packages that are not there, a folder to import from, then the modules to import.
ALONE = """
import builtins, sys
absent = set(sys.argv[1].split(","))
original = builtins.__import__
def guarded(name, globals=None, locals=None, fromlist=(), level=0):
    if level == 0 and name.partition(".")[0] in absent:
        raise ModuleNotFoundError(f"{name} is not installed here")
    return original(name, globals, locals, fromlist, level)
builtins.__import__ = guarded
sys.path.insert(0, sys.argv[2])
import importlib
for module in sys.argv[3:]:
    importlib.import_module(module)
print(*sorted(absent & sys.modules.keys()))
"""
