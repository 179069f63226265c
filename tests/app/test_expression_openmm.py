"""Expressions against OpenMM: values and first derivatives of generated expressions, to 1e-10.

    python3 test_expression_openmm.py PROGRAM
"""

import concurrent.futures
import json
import os
import random
import sys

import program

try:
    import openmm
except ImportError:
    print("skipped: this Python has no openmm (tests/requirements.txt)")
    sys.exit(program.SKIPPED)

EXPRESSIONS = 250
TOLERANCE = 1e-10
UNARY = (
    ("sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")
    + ("erf", "erfc", "abs", "floor", "ceil", "step", "delta", "square", "cube", "recip")
)
BINARY = ("atan2", "min", "max")
# What every user would write first.
KNOWN = (
    "4*y*((x/r)^12-(x/r)^6)",
    "4*e*((s/r)^12-(s/r)^6); s=0.5*(x+y); e=sqrt(x*y)",
    "138.935*x*y*(1/r-1/2.5+(r-2.5)/2.5^2)",
    "x*(1-exp(-y*(r-1)))^2",
    "x*y*erfc(0.3*r)/r",
    "select(step(r-1), x*(r-1)^2, y*(r-1)^2)",
    "-x/(1+(r/y)^4)+2^-r^2-r^x*y^r",
)


class Generator:
    """Random texts over all operations, real and smooth for the arguments that are drawn."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def expression(self, depth):
        kind = self.random.randrange(10) if depth > 0 else 0
        if kind == 0:
            return self.random.choice(("r", "r", "x", "y", "2", "0.5", "3e-1", "1.7"))
        if kind <= 3:
            return self.arithmetic(depth)
        if kind <= 5:
            return self.power(depth)
        if kind == 6:
            a, b, c = (self.expression(depth - 1) for _ in range(3))
            return f"select(step(sin(5*({a}))), {b}, {c})"
        if kind == 7:
            a, b = (self.expression(depth - 1) for _ in range(2))
            name = self.random.choice(BINARY)
            return f"{name}({a}, square({b})+0.3)"
        return self.call(depth)

    def arithmetic(self, depth):
        a, b = (self.expression(depth - 1) for _ in range(2))
        symbol = self.random.choice("+-*/")
        if symbol == "/":
            return f"({a})/(({b})^2+0.4)"
        return self.random.choice((f"({a}){symbol}({b})", f"-({a}){symbol}-({b})"))

    def power(self, depth):
        base = f"(0.5+abs(sin({self.expression(depth - 1)})))"
        return self.random.choice(
            (
                f"(x/r)^{self.random.randint(1, 12)}*sin({self.expression(depth - 1)})",
                f"{base}^-{self.random.randint(1, 9)}",
                f"{base}^{self.random.choice((0.5, 1.5, -0.5, 2.3, -1.7))}",
                f"{base}^cos({self.expression(depth - 1)})",
                f"-r^2^{base}",
            )
        )

    def call(self, depth):
        name = self.random.choice(UNARY)
        inside = self.expression(depth - 1)
        if name in ("sqrt", "log", "recip"):
            return f"{name}(square({inside})+0.3)"
        if name in ("square", "cube", "abs"):
            return f"{name}({inside})"
        return f"{name}(0.9*sin({inside}))"

    def whole(self, depth):
        """With an intermediate definition now and then."""
        text = self.expression(depth)
        if self.random.random() < 0.3:
            return f"a*({text})+a^2; a=b+cos(b); b={self.expression(1)}"
        return text

    def arguments(self):
        return {name: round(self.random.uniform(0.7, 1.9), 6) for name in "rxy"}


def by_openmm(text, arguments):
    """Energy and derivative of one bond of this length."""
    system = openmm.System()
    force = openmm.CustomBondForce(text)
    for name in "xy":
        force.addGlobalParameter(name, arguments[name])
    for _ in range(2):
        system.addParticle(1)
    force.addBond(0, 1, [])
    system.addForce(force)
    context = openmm.Context(
        system,
        openmm.VerletIntegrator(0.001),
        openmm.Platform.getPlatformByName("Reference"),
    )
    context.setPositions([openmm.Vec3(0, 0, 0), openmm.Vec3(arguments["r"], 0, 0)])
    state = context.getState(getEnergy=True, getForces=True)
    energy = state.getPotentialEnergy().value_in_unit(openmm.unit.kilojoule_per_mole)
    unit = openmm.unit.kilojoule_per_mole / openmm.unit.nanometer
    return energy, -state.getForces()[1].value_in_unit(unit)[0]


def by_program(text, arguments):
    # Names that an expression does not have may not be set.
    described = program.succeed("expression", text, "--json")
    variables = set(json.loads(described.stdout)["variables"]) | {"r"}
    words = [f"--set={name}={value!r}" for name, value in arguments.items() if name in variables]
    # Every second one as the kernels have it: from r^2, in two parts.
    how = ["--pairs"] if len(text) % 2 else []
    result = program.succeed("expression", text, "--json", *how, *words)
    values = json.loads(result.stdout)["values"]
    return values["value"], values["derivative"]


class AgainstOpenmm(program.TestCase):
    def test_values_and_derivatives(self):
        generator = Generator(20)
        texts = list(KNOWN)
        while len(texts) < EXPRESSIONS:
            texts.append(generator.whole(1 + len(texts) % 4))
        cases = [(text, generator.arguments()) for text in texts]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as executor:
            found = list(executor.map(lambda case: by_program(*case), cases))
        functions = {name for name in (*UNARY, *BINARY, "select") if f"{name}(" in " ".join(texts)}
        self.assertEqual(functions, {*UNARY, *BINARY, "select"})
        worst = 0
        for (text, arguments), ours in zip(cases, found, strict=True):
            for what, value, reference in zip(
                ("value", "derivative"), ours, by_openmm(text, arguments), strict=True
            ):
                error = abs(value - reference) / max(1, abs(reference))
                worst = max(worst, error)
                self.assertLessEqual(
                    error, TOLERANCE, f"{what} of {text} at {arguments}: {value}, {reference}"
                )
        print(f"{len(cases)} expressions, largest deviation {worst:.1e}")


if __name__ == "__main__":
    program.main()
