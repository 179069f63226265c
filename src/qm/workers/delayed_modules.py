"""Modules that others import at their start and hardly ever use: loaded when they are used."""

import importlib.util
import sys
import threading
import types

_loading = threading.RLock()


class _Delayed(types.ModuleType):
    """importlib's LazyLoader is of no use here: an import statement that finds such a module loads it."""

    def __getattr__(self, attribute):
        with _loading:  # other threads wait until the module is whole
            if type(self) is _Delayed and "_is_loading" not in self.__dict__:
                self.__dict__["_is_loading"] = True
                try:
                    self.__spec__.loader.exec_module(self)
                    self.__class__ = types.ModuleType
                finally:
                    del self.__dict__["_is_loading"]
        if type(self) is _Delayed:  # it asks itself while it is loaded
            raise AttributeError(f"module {self.__name__} has no attribute {attribute}")
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
