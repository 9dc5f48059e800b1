"""Every public name has its parameters, what it returns, and an example that runs."""

from __future__ import annotations

import doctest
import inspect

import pytest

import allminds
from allminds import registry

FUNCTIONS = {name for name in allminds.__all__ if inspect.isfunction(getattr(allminds, name))}

REGISTERED = (
    ("matching-pennies", "always-tails"),
    ("lambda-star", "all-rest"),
    ("*", "last-word"),
    ("*", "contrary"),
)


@pytest.mark.parametrize("name", allminds.__all__)
def test_a_public_name_says_what_it_takes_and_returns(name):
    told = inspect.getdoc(getattr(allminds, name))
    sections = {"Parameters\n-", "Attributes\n-"} if name not in FUNCTIONS else {"Parameters\n-"}
    assert any(section in told for section in sections)
    if name in FUNCTIONS:
        takes = inspect.signature(getattr(allminds, name)).parameters
        missing = [one for one in takes if f"{one} : " not in told]
        assert not missing
        assert ("Raises\n-" if name.startswith("check") else "Returns\n-") in told


@pytest.mark.parametrize("name", allminds.__all__)
def test_the_example_of_a_public_name_runs(name):
    thing = getattr(allminds, name)
    example = doctest.DocTestParser().get_doctest(inspect.getdoc(thing), {}, name, None, None)
    assert example.examples
    said: list[str] = []
    found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append)
    for registered in REGISTERED:  # by examples, and not to be found by other tests
        registry._minds.pop(registered, None)
    assert not found.failed, "".join(said)
