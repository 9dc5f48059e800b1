"""Games for tests, and people who come to them."""

from __future__ import annotations

import pytest
from studio import Person

SQLITE = pytest.mark.parametrize("where", ["sqlite"], indirect=True)  # no matter of databases
DILEMMA = {"instrument": "prisoners-dilemma", "settings": {"steps": 3}, "exercises": 2}
PENNIES = {"instrument": "matching-pennies", "settings": {"steps": 2}, "exercises": 2}
NOUGHTS = {"instrument": "noughts-and-crosses", "exercises": 2}
PEOPLE = {"opponent": "person", "stand_in": "tit-for-tat"}
LETTERS = {"instrument": "c-test", "settings": {"form": "generated", "k": "7..9"}, "exercises": 1}


def arrived(server, links) -> list[Person]:
    """People at the first screen after the instructions, one after the other."""
    people = [Person(server) for _ in links]
    for person, link in zip(people, links, strict=True):
        person.join(link)
        person.begin()
    for person in people:
        if person.screen in ("room", "waiting"):
            person.load()
    return people


def both_play(people: list[Person], choices: str = "") -> None:
    """Each in turn does whatever there is to do, until nobody has anything left."""
    wished = iter(choices)
    for _ in range(200):
        for person in people:
            person.load()
            if person.screen == "exercise":
                person.post("/choice", choice=next(wished, person.context["choices"][0]))
            elif person.screen == "between":
                person.post("/next")
        if all(person.screen == "done" for person in people):
            return
    raise AssertionError([person.screen for person in people])
