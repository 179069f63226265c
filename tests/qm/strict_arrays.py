"""An array module like CuPy on the host's memory: its arrays and NumPy's do not mix.

What CuPy refuses it refuses: a NumPy array beside one of its own, and turning into one unasked. What
it has CuPy has, too (NAMES; where CuPy is installed a test looks).
"""

import numpy

NAMES = {
    "absolute", "arange", "arcsinh", "arctan", "asarray", "ascontiguousarray", "cbrt", "einsum", "empty", "empty_like",
    "exp", "expm1", "eye", "log", "log1p", "maximum", "minimum", "reciprocal", "sqrt", "stack", "vdot",
    "where", "zeros", "zeros_like", "tensordot", "concatenate",
}  # fmt: skip
LINALG_NAMES = {"eigh", "norm"}


class DeviceMemoryError(MemoryError):
    """As CuPy's OutOfMemoryError is one."""


class DeviceError(RuntimeError):
    """As CuPy's CUDARuntimeError is one."""


def unwrap(value):
    if isinstance(value, StrictArray):
        return value.values
    if isinstance(value, numpy.ndarray):
        raise TypeError("a NumPy array where one of the device is due: put() it there first")
    if isinstance(value, (list, tuple)):
        return type(value)(unwrap(item) for item in value)
    return value


def wrap(value):
    if isinstance(value, tuple):
        return tuple(wrap(item) for item in value)
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return StrictArray(numpy.asarray(value))
    return value


class StrictArray:
    __array_ufunc__ = None  # NumPy's operators leave all to ours
    __hash__ = None

    def __init__(self, values):
        self.values = values

    def __array__(self, *_, **__):
        raise TypeError("implicit conversion to a NumPy array: get() it first")

    def __getattr__(self, name):
        if name not in METHODS:
            raise AttributeError(f"not known to be a method of CuPy's arrays: {name}")
        method = getattr(self.values, name)
        return lambda *args, **named: wrap(
            method(*unwrap(args), **{key: unwrap(value) for key, value in named.items()})
        )

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)
    ndim = property(lambda self: self.values.ndim)
    size = property(lambda self: self.values.size)
    nbytes = property(lambda self: self.values.nbytes)
    T = property(lambda self: StrictArray(self.values.T))

    def __len__(self):
        return len(self.values)

    def __float__(self):
        return float(self.values)

    def __bool__(self):
        return bool(self.values)

    def __getitem__(self, index):
        return wrap(self.values[unwrap(index)])

    def __setitem__(self, index, value):
        self.values[unwrap(index)] = unwrap(value)


METHODS = {
    "all", "any", "argmax", "astype", "copy", "diagonal", "max", "min", "ravel", "reshape", "sum", "swapaxes", "take",
    "trace", "transpose",
}  # fmt: skip


def _operator(name):
    def method(self, *others):
        answer = getattr(self.values, name)(*unwrap(others))
        if answer is NotImplemented:
            return answer
        if name.startswith("__i"):
            self.values = answer
            return self
        return wrap(answer)

    return method


BINARY = ("add", "sub", "mul", "truediv", "matmul", "pow", "lt", "le", "gt", "ge", "eq", "ne", "and")
for _name in BINARY:
    setattr(StrictArray, f"__{_name}__", _operator(f"__{_name}__"))
for _name in BINARY[:6]:
    setattr(StrictArray, f"__r{_name}__", _operator(f"__r{_name}__"))
    if _name not in ("matmul", "pow"):
        setattr(StrictArray, f"__i{_name}__", _operator(f"__i{_name}__"))
for _name in ("neg", "abs", "invert"):
    setattr(StrictArray, f"__{_name}__", _operator(f"__{_name}__"))


class StrictModule:
    """fail_after: so many uses of a function from now on, memory has run out, or there is another
    failure; None: never."""

    def __init__(self, names=NAMES, source=numpy):
        self._names = names
        self._source = source
        self.fail_after = None
        self.failure = DeviceMemoryError("no memory is left on the device (a test)")
        self.copies = 0

    @property
    def linalg(self):
        return StrictModule(LINALG_NAMES, numpy.linalg)

    def asarray(self, values, dtype=None):
        self._use_memory()
        if isinstance(values, StrictArray):
            return values
        self.copies += 1
        return StrictArray(numpy.array(values, dtype=dtype))

    def asnumpy(self, array, out=None):
        self.copies += 1
        if not isinstance(array, StrictArray):
            return numpy.asarray(array)
        if out is None:
            return array.values.copy()
        if not (out.dtype == array.dtype and out.shape == array.shape and out.flags.c_contiguous):
            raise TypeError("an array of the host's that this one cannot be copied into as it is")
        out[...] = array.values
        return out

    def __getattr__(self, name):
        if name not in self._names:
            raise AttributeError(f"not known to be in CuPy: {name}")
        function = getattr(self._source, name)
        if isinstance(function, type):
            return function

        def call(*args, **named):
            self._use_memory()
            return wrap(
                function(*unwrap(args), **{key: unwrap(value) for key, value in named.items()})
            )

        return call

    def _use_memory(self):
        if self.fail_after is not None:
            self.fail_after -= 1
            if self.fail_after < 0:
                raise self.failure
