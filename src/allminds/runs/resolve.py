"""From instruments and minds as they are given to a plan whose names are resolved, once.

It also says what is kept of minds that have no name. `prepared` makes the plan of an evaluation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from allminds import registry
from allminds.contracts import Instrument
from allminds.core.errors import Error, nearest
from allminds.core.line_up import LineUp, missing_ends, parse_all
from allminds.core.settings import checked
from allminds.core.watch import Watch
from allminds.course import COURSES, Course
from allminds.episode import play
from allminds.registry import NO_OBJECTS, Objects
from allminds.runs.engine import Given
from allminds.runs.plan import MOST_ENDS, Plan, Test, check_word, names_of, seated
from allminds.runs.provenance import origin_of, origin_of_instrument

Reasons = Mapping[str, Mapping[str, str]]  # mind -> instrument, or its tests -> why not


@dataclass(frozen=True)
class Resolved:
    """A plan with its names resolved, so that what is wrong is found before anything is played."""

    plan: Plan
    tests: Sequence[Given]
    no_opponents: Sequence[str] = ()  # sentences on opponents that do not play a game
    reasons: Reasons = field(default_factory=dict)  # why an added mind cannot take a test
    narrowed: bool = False  # the plan is a part of another one, which has more instruments

    @classmethod
    def of(
        cls,
        plan: Plan,
        minds: Sequence[Any] | Mapping[str, Any] = (),
        objects: Objects = NO_OBJECTS,
        narrowed: bool = False,
    ) -> Resolved:
        """Resolve the names of a plan, and add minds, which are then asked about.

        `objects` are the minds of a stored plan that were given in Python and that no name leads
        to. A plan is `narrowed` if it is a part of another: its minds are then tried as there.
        """
        known = _objects(plan, objects)
        given = [
            Given.of(test.instrument, test.settings, test.minds, _used(known, test) | test.objects)
            for test in plan.tests
        ]
        found = cls(plan, given, narrowed=narrowed)
        return (found.joined(minds) if minds else found).whole()

    @property
    def left_out(self) -> list[str]:
        """Sentences on every test that an added mind cannot take, with the reason."""
        each = (
            f"{mind} cannot take {on}: {why}"
            for mind, of in self.reasons.items()
            for on, why in of.items()
        )
        return [*self.no_opponents, *each]

    def left_out_in_short(self) -> list[str]:
        """Say the same in one sentence for each mind, with the reason of its first test."""
        told = list(self.no_opponents)
        for mind, of in self.reasons.items():
            first, why = next(iter(of.items()))
            if len(of) == 1:
                told.append(f"{mind} cannot take {first}: {why}")
            else:
                told.append(f"{mind} cannot take {', '.join(of)}; the first because: {why}")
        return told

    def joined(
        self,
        minds: Sequence[Any] | Mapping[str, Any],
        yours: bool = True,
        only: int | None = None,
    ) -> Resolved:
        """Add minds to every test that they can take; with `yours` they are asked about.

        With `only` they are added to the test of this number alone.

        A registered mind declares which instruments it is for. A mind of the user's is tried: it
        takes the tests whose first exercise it ends. In a plan with one instrument no mind is left
        out, unless it is a part of a plan with several.
        """
        objects: dict[str, Any] = {}
        names = names_of(minds, objects)
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise Error(f"minds: '{twice}' is given twice; name it once")
        if any(test.against for test in self.plan.tests):
            for name in objects:
                check_word(name)
        asked = dict.fromkeys(self.plan.yours)
        reasons: dict[str, dict[str, str]] = {}
        able: set[tuple[str, str]] = set()  # minds and instruments of which they take a test
        pairs = []
        certain = len({test.instrument for test in self.plan.tests}) == 1 and not self.narrowed
        for number, (test, given) in enumerate(zip(self.plan.tests, self.tests, strict=True)):
            taken: dict[str, LineUp] = {}
            for mind in names if only in (None, number) else ():
                name = seated(mind, test.against) if test.against else mind
                found = _tried(name, given, self.plan, certain, objects)
                if isinstance(found, str):
                    reasons.setdefault(mind, {})[test.instrument] = found
                    continue
                able.add((mind, test.instrument))
                if yours:
                    asked[test.mind_of(found.name)] = None
                if found.name not in {one.name for one in given.line_ups}:
                    taken[name] = found
            mine = {name: objects[name] for name in objects if _mentions(taken, name)}
            pairs.append((test.joined(taken, mine), given.joined(list(taken), list(taken.values()),
                                                                 mine)))  # fmt: skip
        if only is None:
            _check_able(reasons, {mind for mind, _ in able})
        tests, given_now = [test for test, _ in pairs], [given for _, given in pairs]
        plan = self.plan.model_copy(update={"tests": tests, "yours": list(asked)})
        told = {
            mind: {
                **self.reasons.get(mind, {}),
                **{"some tests of " * ((mind, on) in able) + on: why
                   for on, why in reasons[mind].items()},
            }
            for mind in names
            if mind in reasons
        }  # fmt: skip
        return replace(self, plan=plan, tests=given_now, reasons={**self.reasons, **told})

    def with_ends(self, full: bool = False) -> Resolved:
        """Add the floor and the ceiling of every line-up that lacks them.

        In a long test they play a sample of the exercises, unless they shall play it in `full`; an
        adaptive test and a course cannot be cut.
        """
        pairs = []
        for test, given in zip(self.plan.tests, self.tests, strict=True):
            plain = given.tool.skin is None  # scores in disguise are compared with plain ones
            ends = missing_ends(given.line_ups, given.tool) if plain else []
            objects = given.objects  # a line-up's others may be the user's
            now, made = test.joined(ends, {}), given.joined(ends, objects=objects)
            whole = full or given.tool.adaptive or given.tool.parts
            if test.exercises > MOST_ENDS and not whole:
                names = [one.name for one in made.line_ups[len(given.line_ups) :]]
                now = now.model_copy(update={"sampled": names})
            pairs.append((now, made))
        plan = self.plan.model_copy(update={"tests": [test for test, _ in pairs]})
        return replace(self, plan=plan, tests=[given for _, given in pairs])

    def whole(self) -> Resolved:
        """Check the names of the minds asked about, and note where the user's own come from."""
        known = {
            test.mind_of(one.name)
            for test, given in zip(self.plan.tests, self.tests, strict=True)
            for one in given.line_ups
        }
        for name in self.plan.yours:
            if name not in known:
                hint = nearest(name, known)
                raise Error(f"yours: no test of the plan has the mind '{name}'; {hint}")
        origins = dict(self.plan.objects)
        for given in self.tests:
            for name, thing in given.objects.items():
                origins.setdefault(name, origin_of(thing))
            if registry.in_memory(given.tool.kind):
                origins.setdefault(given.tool.name, origin_of_instrument(given.tool.kind))
        return replace(self, plan=self.plan.model_copy(update={"objects": origins}))


def _check_able(reasons: Reasons, able: set[str]) -> None:
    """Reject a mind that can take none of the tests."""
    for mind, why in reasons.items():
        if mind not in able:
            name, reason = next(iter(why.items()))
            raise Error(f"{mind} can take none of the tests; {name}: {reason}")


def _tried(name: str, given: Given, plan: Plan, certain: bool, objects: Objects) -> LineUp | str:
    """Resolve a line-up for a test, or say why it cannot take it; try a mind of the user's."""
    try:
        line_up = registry.line_up(name, given.tool, {**given.objects, **objects})
    except Error as error:
        if certain:
            raise
        return str(error)
    if certain or line_up.seats[0].subject.built_in:
        return line_up
    if ":" not in name and not _mentions([name], *objects):
        return line_up  # it is registered, for the instruments that it says
    with Watch(plan.time_limit).running() as watch:
        record = play(given.tool.exercise(plan.seed, 0), line_up, watch)
    return line_up if "ok" in record.status else record.reason


# ---------------------------------------------------------------- minds that have no name


def _objects(plan: Plan, supplied: Objects) -> dict[str, Any]:
    """Collect the user's own minds of a stored plan: those supplied, and those a name leads to."""
    for name in supplied:
        if name not in plan.objects:
            hint = nearest(name, plan.objects)
            raise Error(f"minds: the run was given no object called '{name}'; {hint}")
    found: dict[str, Any] = {}
    here = {name for test in plan.tests for name in test.objects}
    lost: list[str] = []
    for name, origin in plan.objects.items():
        if origin.kind == "instrument":
            _check_registered(name, origin.qualname)
        elif name in supplied:
            found[name] = supplied[name]
        elif origin.reference is not None:
            found[name] = origin.reference
        elif name not in here:
            lost.append(name)
    if lost:
        raise Error(lost_sentence(lost))
    return found


def lost_sentence(names: Sequence[str]) -> str:
    """Say that a run cannot be resumed or repeated without objects of a Python session."""
    what = "the object" if len(names) == 1 else "the objects"
    given = ", ".join(f"'{name}': …" for name in names)
    return (
        f"the run cannot be resumed without {what} {', '.join(names)} of a Python session; supply "
        f"with allminds.resume(folder, minds={{{given}}})"
    )


def _check_registered(name: str, qualname: str) -> None:
    """Reject a stored plan with an instrument of a Python session that is over."""
    if name not in registry.instruments():
        raise Error(
            f"the instrument '{name}' was the class {qualname} of a Python session; register it "
            f"with allminds.instrument({qualname.rpartition('.')[2]}) first"
        )


def _used(objects: Mapping[str, Any], test: Test) -> dict[str, Any]:
    """Select the objects that the minds of a test mention."""
    return {name: who for name, who in objects.items() if _mentions([*test.minds], name)}


def _mentions(texts: Sequence[str] | Mapping[str, Any], *names: str) -> bool:
    """Check whether one of some line-ups has one of some names in it."""
    return any(name == text or name in _words(text) for text in texts for name in names)


def _words(text: str) -> set[str]:
    """List the names in a line-up, those of members of groups too."""
    try:
        todo, found = list(parse_all(text)), set()
    except Error:  # a name of the user's, which stands alone
        return {text}
    while todo:
        name = todo.pop()
        found.add(name.name)
        todo += name.arguments
    return found


# ---------------------------------------------------------------- the plan of an evaluation


EPISODES = 1000  # of an instrument without a fixed form
FIELDS = (
    "instrument",
    "settings",
    "episodes",
    "minds",
    "against",
    "course",
    "until",
)  # of a test in a mapping


def prepared(
    instruments: Any,
    minds: Sequence[Any] | Mapping[str, Any],
    *,
    against: Any = None,
    settings: Mapping[str, Any] | None = None,
    episodes: int | None = None,
    seed: int = 1,
    time_limit: float = 10.0,
    ends: bool | Literal["full"] = True,
    course: Any = None,
    disguises: int = 0,
    until: Any = None,
) -> Resolved:
    """Make the plan that `evaluate` plays, with all names resolved."""
    check_minds(minds)
    drafts = [
        _ended(_taught(draft, course), until) for draft in _drafts(instruments, settings, episodes)
    ]
    several = len(drafts) > 1
    drafts = [one for draft in drafts for one in _in_skins(draft, disguises)]
    opponents = _opponents(against)
    left_out: list[str] = []
    tests: list[Test] = []
    given: list[Given] = []
    rivals: dict[int, Any] = {}
    for draft in drafts:
        one = Given.of(draft["instrument"], draft.get("settings") or {}, [])
        if disguises and one.tool.adaptive:
            raise Error(
                f"{one.tool.name} chooses its exercises by the scores before, so that they are not "
                "the same in disguise; leave out disguises"
            )
        fit = _fitting(opponents, one.tool, several, left_out if one.tool.skin is None else [])
        for test, who in _seated(draft, one, fit):
            if who and one.tool.skin is None:
                rivals[len(tests)] = who
            tests.append(test)
            given.append(replace(one, objects=dict(test.objects)))
    values = {"tests": tests, "seed": seed, "time_limit": time_limit}
    plan = checked(Plan, values, "evaluate")
    bare = [test.model_copy(update={"minds": []}) for test in plan.tests]
    found = Resolved(plan.model_copy(update={"tests": bare}), given, no_opponents=left_out)
    found = found.joined(minds) if minds else found
    for number, who in rivals.items():
        found = found.joined(who, yours=False, only=number)
    if not isinstance(ends, bool) and ends != "full":
        raise Error(f"ends must be True, False or 'full', not {ends!r}")
    found = found.with_ends(ends == "full") if ends else found
    for test in found.plan.tests:
        if not test.minds:
            raise Error(f"minds: there is none for {test.instrument}; give one")
    return found.whole()


def _drafts(
    instruments: Any, settings: Mapping[str, Any] | None, episodes: int | None
) -> list[dict[str, Any]]:
    """Convert instruments as they were given to mappings with the fields of a test."""
    one = not isinstance(instruments, (list, tuple))
    found = [_draft(what) for what in ([instruments] if one else instruments)]
    if not found:
        raise Error("instruments must not be empty; see allminds.list('instruments')")
    if settings is not None:
        if not isinstance(settings, Mapping):
            raise Error(f"settings must be a mapping, such as {{'rows': 5}}, not {settings!r}")
        if len(found) > 1:
            raise Error(
                "settings are those of one instrument; give several instruments their own, as "
                "[{'instrument': 'lambda-star', 'settings': {'rows': 5}}, 'c-test']"
            )
        found[0]["settings"] = {**(found[0].get("settings") or {}), **settings}
    for draft in found:
        if episodes is not None:
            draft.setdefault("episodes", episodes)
        if sum(_alike(draft, other) for other in found) > 1:
            raise Error(f"instruments: {_named(draft)} is given twice with the same settings")
    return found


def _taught(draft: dict[str, Any], course: Any) -> dict[str, Any]:
    """Put a course among the settings; a test's own course goes before that of all."""
    own = draft.pop("course", None)
    settings = dict(draft.get("settings") or {})
    chosen = settings.get("course", course if own is None else own)
    if chosen is None:
        return draft
    return draft | {"settings": settings | {"course": Course.of(chosen).plain()}}


def _in_skins(draft: dict[str, Any], disguises: int) -> list[dict[str, Any]]:
    """Give a test plain, and once more in each of the skins 1, 2, … that are wanted."""
    if isinstance(disguises, bool) or not isinstance(disguises, int) or disguises < 0:
        raise Error(f"disguises must be a whole number, 0 or more, not {disguises!r}")
    settings = dict(draft.get("settings") or {})
    own = {"course": "a course", "until": "an adaptive test", "disguise": "a disguise of its own"}
    what = next((words for name, words in own.items() if name in settings), "")
    if disguises and what:
        raise Error(f"{_named(draft)} is given as {what}; leave that out, or disguises")
    worn = [{**draft, "settings": settings | {"disguise": n}} for n in range(1, disguises + 1)]
    return [draft, *worn]


def _ended(draft: dict[str, Any], until: Any) -> dict[str, Any]:
    """Put among the settings when a test ends; a test's own goes before that of all."""
    own = draft.pop("until", None)
    settings = dict(draft.get("settings") or {})
    chosen = settings.get("until", until if own is None else own)
    if chosen is None:
        return draft
    from allminds.until import Until

    if draft.get("episodes") is not None:
        raise Error("until ends the test; leave episodes out, and say how many at most: "
                    f"width={Until.of(chosen).width:g},most={draft['episodes']}")  # fmt: skip
    return draft | {"settings": settings | {"until": Until.of(chosen).plain()}, "episodes": 1}


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(name) == other.get(name) for name in ("instrument", "settings", "against"))


def _named(draft: Mapping[str, Any]) -> str:
    which = draft["instrument"]
    return which if isinstance(which, str) else str(getattr(which, "name", which))


def _draft(what: Any) -> dict[str, Any]:
    if isinstance(what, Test):
        known = what.model_fields_set
        given = {name: getattr(what, name) for name in FIELDS if name in known}
        return given | {"minds": {name: what.objects.get(name, name) for name in what.minds}}
    if isinstance(what, Mapping):
        wrong = next((name for name in what if name not in FIELDS), None)
        if wrong is not None or "instrument" not in what:
            said = f"not '{wrong}'" if wrong is not None else "and 'instrument' is missing"
            raise Error(f"instruments: a mapping has {', '.join(FIELDS)}, {said}")
        return dict(what)
    if not isinstance(what, (str, type)) or not what:
        raise Error(
            "instruments must be a name such as 'lambda-star', a subclass of Instrument, a Test, a "
            f"mapping or a list of these, not {what!r}"
        )
    return {"instrument": what}


def _opponents(against: Any) -> list[Any]:
    if against is None:
        return []
    found = list(against) if isinstance(against, (list, tuple)) else [against]
    if not found or "" in found:
        raise Error("against must not be empty; name a mind, or leave it out")
    return found


def _is_game(tool: Instrument) -> bool:
    """Check whether a test has opponents: other slots, which do not count for the score."""
    return tool.scored == "first" and tool.slots > 1


def _fitting(
    opponents: Sequence[Any], tool: Instrument, several: bool, left_out: list[str]
) -> Sequence[Any]:
    """Select the opponents that play a game; of several instruments, each has its own."""
    if not _is_game(tool) or not several:
        return opponents
    fit = []
    for opponent in opponents:
        try:
            names = [one.name for one in parse_all(opponent)] if isinstance(opponent, str) else []
            for name in names or [opponent]:
                registry.subject(name, tool)
            fit.append(opponent)
        except Error as error:
            left_out.append(f"nobody plays {tool.name} against {opponent}: {error}")
    if opponents and not fit:
        raise Error(f"against: none of them plays {tool.name}; {left_out[-1].partition(': ')[2]}")
    return fit


def _seated(
    draft: Mapping[str, Any], given: Given, opponents: Sequence[Any]
) -> list[tuple[Test, Any]]:
    """Make the tests of a draft, each with the rivals that take it too.

    In a game there is a test for each opponent, who fills the other slots.
    """
    tool, rivals = given.tool, draft.get("minds") or []
    values = {name: value for name, value in draft.items() if name != "minds"} | {
        "minds": ["-"],
        "episodes": draft.get("episodes", COURSES if tool.parts else tool.length or EPISODES),
    }
    where = f"evaluate {tool.name}"
    if not _is_game(tool) or draft.get("against") or not opponents:
        mine = checked(Test, values, where)
        return [(mine, rivals or (opponents if not mine.against else []))]
    made = []
    for opponent in opponents:
        test = checked(Test, values | {"against": opponent}, where)
        alone = "," not in test.against and "*" not in test.against
        if alone and tool.slots > 2:
            full = f"{test.against}*{tool.slots - 1}"
            test = test.model_copy(update={"against": full})
        made.append((test, rivals))
    return made


def check_minds(minds: Any) -> None:
    """Reject what is not a list or a mapping of minds."""
    if isinstance(minds, str) or not isinstance(minds, (Sequence, Mapping)):
        raise Error(f"minds are a list, such as ['random', MyMind], not {minds!r}")
