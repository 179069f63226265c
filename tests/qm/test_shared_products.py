"""Products of a response's equations that other PySCF workers make: the same bits as the worker's own.

Run by any Python that has src/qm/workers/requirements.txt; half a minute.
"""

import unittest

from test_exact_ensemble import (
    FORMALDEHYDE,
    HYDROXYL,
    NITROGEN_DIOXIDE,
    WATER,
    make_engine,
    prepared,
    respond,
)

# isort: split

import dataclasses
import unittest.mock

import exact_ensemble
import exact_requests
import numpy
import shared_products
from fitted_interaction import exchange_of_change
from worker_protocol import WorkerError


class Program:
    """Between the worker that makes a response and another one, which may be lost: None."""

    def __init__(self, other):
        self.other, self.made = other, 0
        self._answer = {}

    def send(self, kind, arrays):
        assert all(array.size for array in arrays.values()), f"{kind}: the program takes no empty array"
        arrays = {name: array.copy() for name, array in arrays.items()}  # in another place
        if self.other is None:
            return
        if kind == "equations":
            self.ask("equations", arrays)
        else:
            self._answer = self.ask("multiply", arrays)
            self.made += len(arrays["vectors"])

    def receive(self):
        return {"type": "products"}, self._answer

    def ask(self, request, arrays):
        """Arrays of what the other worker answers."""
        channel = unittest.mock.Mock()
        assert exact_requests.answer(channel, self.other, {"type": request}, arrays)
        return channel.send.call_args.args[-1]


def others(program):
    return exact_requests.OtherWorkers(program, 1)


class SharedProductsTest(unittest.TestCase):
    METHODS = (
        (FORMALDEHYDE, {}),
        (FORMALDEHYDE, {"method": "b3lyp"}),
        (NITROGEN_DIOXIDE, {"multiplicity": 2, "method": "hf", "density_fitting": False}),
        (NITROGEN_DIOXIDE, {"multiplicity": 2, "method": "pbe0"}),
        (FORMALDEHYDE, {"method": "hf"}),
        (FORMALDEHYDE, {"method": "camb3lyp"}),
        (FORMALDEHYDE, {"method": "camb3lyp", "density_fitting": False}),
        (FORMALDEHYDE, {"method": "tpss"}),
        (NITROGEN_DIOXIDE, {"multiplicity": 2, "method": "r2scan"}),
        (HYDROXYL, {"multiplicity": 2, "method": "hse06"}),
    )

    def test_products_have_the_same_bits_whoever_makes_them(self):
        for molecule, changed in self.METHODS:
            with self.subTest(**changed):
                engine, _ = prepared(molecule, 4, **changed)
                reference = engine.exact._reference
                equations = engine._response_equations(reference.mean, reference.density, 3)
                size = equations.response.size
                vectors = numpy.random.default_rng(2).normal(size=(5, size))
                products = equations.response.apply(vectors, 3)
                other = make_engine(molecule, **changed)
                other.exact.take_equations(equations.shared.copy())
                numpy.testing.assert_array_equal(other.exact.multiply(vectors[1:4]), products[1:4])
                # And A is symmetric.
                numpy.testing.assert_allclose(
                    vectors @ products.T, products @ vectors.T, rtol=1e-5, atol=1e-5 * size
                )

    def test_a_response_of_shared_products_is_that_of_one_worker(self):
        for molecule, changed in self.METHODS[1:3]:
            engine, _ = prepared(molecule, 30, **changed)
            alone = respond(engine, 16, threads=2)
            equations = engine.exact._equations
            engine.exact._equations = lambda *arguments, make=equations: dataclasses.replace(
                make(*arguments), seconds=0.0
            )  # from the first product on
            for other in (make_engine(molecule, **changed), None):
                program = Program(other)
                fields, arrays = respond(engine, 16, threads=2, others=others(program))
                self.assertEqual(program.made > 0, other is not None)
                self.assertEqual(fields, alone[0])
                for name, array in alone[1].items():
                    numpy.testing.assert_array_equal(arrays[name], array, name)

    def test_exchange_of_a_change(self):
        mean_field = make_engine(WATER, method="hf")._mean_field
        functions = mean_field.mol.nao
        changed, occupied = numpy.random.default_rng(4).normal(size=(2, functions, 3))
        half = changed @ occupied.T
        theirs = mean_field.get_k(mean_field.mol, half + half.T)
        ours = exchange_of_change(mean_field.with_df, changed, occupied)
        numpy.testing.assert_allclose(ours, theirs, atol=1e-12 * abs(theirs).max())

    def test_others_make_nothing_while_that_is_not_worth_it(self):
        class Response:
            size = 2

            def apply(self, vectors, threads):
                return 3 * vectors

        program = Program(unittest.mock.Mock())
        program.other.exact.multiply = lambda vectors: 3 * vectors
        for seconds, threads, made in ((1e9, 2, 0), (0.0, 16, 0), (0.0, 2, 2)):
            equations = exact_ensemble.Equations(Response(), None, numpy.ones(1), seconds)
            products = shared_products.SharedProducts(equations, threads, others(program))
            vectors = numpy.arange(8.0).reshape(4, 2)
            numpy.testing.assert_array_equal(products.apply(vectors), 3 * vectors)
            self.assertEqual(program.made, made)

    def test_equations_of_another_calculation(self):
        engine, _ = prepared(WATER, 4)
        reference = engine.exact._reference
        shared = engine._response_equations(reference.mean, reference.density, 1).shared
        ask = Program(engine).ask
        wrong = [shared[:-1], shared[:1], numpy.append(-1.0, shared[1:]), shared[5:], shared[None]]
        for arrays in ({}, *({"equations": numbers} for numbers in wrong)):
            with self.assertRaisesRegex(WorkerError, "array equations"):
                ask("equations", arrays)
        ask("equations", {"equations": shared})
        for arrays in ({}, {"vectors": numpy.zeros(3)}, {"vectors": numpy.zeros((2, 3))}):
            with self.assertRaisesRegex(WorkerError, "array vectors"):
                ask("multiply", arrays)
        engine.exact.forget()
        with self.assertRaisesRegex(WorkerError, "there are no equations"):
            ask("multiply", {"vectors": numpy.zeros((1, 3))})

    def test_an_answer_that_is_none(self):
        class Answering:
            def receive(self):
                return answer

        for answer in (
            (None, None),
            ({"type": "forget"}, {}),
            ({"type": "products"}, {"values": numpy.zeros((1, 2))}),
            ({"type": "products"}, {"vectors": numpy.zeros((2, 2))}),
        ):
            with self.assertRaisesRegex(WorkerError, "no answer|array values"):
                others(Answering()).answer((2, 2))
        answer = ({"type": "products"}, {})
        self.assertIsNone(others(Answering()).answer((2, 2)))


if __name__ == "__main__":
    unittest.main()
