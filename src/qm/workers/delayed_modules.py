"""Modules that others import at their start and hardly ever use: loaded when they are used."""

import importlib.util
import sys
import types


class _Delayed(types.ModuleType):
    """importlib's LazyLoader is of no use here: an import statement that finds such a module loads it."""

    def __getattr__(self, attribute):
        self.__class__ = types.ModuleType
        self.__spec__.loader.exec_module(self)
        return getattr(self, attribute)


def delay(name):
    """From here on `import name` takes no time; name: of a module in a package."""
    if name in sys.modules:
        return
    spec = importlib.util.find_spec(name)
    if spec is None:
        return
    module = importlib.util.module_from_spec(spec)
    module.__class__ = _Delayed
    sys.modules[name] = module
    package, _, own_name = name.rpartition(".")
    setattr(sys.modules[package], own_name, module)
