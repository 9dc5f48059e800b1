"""Machines take a study through the real HTTP interface, to try it before people do.

The runner's own loop plays every exercise here, on an episode of its own, so that a mind sees what
it always sees; each of its actions also goes through the browser's interface, as the choice that
comes to the same. So the server must end with the scores that the runner has, to the last bit.

Traps: a person chooses a destination, so several actions are one choice; the server plays the
lowest of them, the mind learns by its own. The `__Host-` cookie is Secure, which HTTP clients do
not send over http even on this machine: it is sent by hand.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allminds import registry
from allminds.contracts import Exercise, Record, Task
from allminds.core.errors import Error
from allminds.core.line_up import LineUp, Seat, Subject, parse_all
from allminds.core.seeding import Random
from allminds.core.watch import Watch
from allminds.episode import Company, Episode, play
from allminds.presentation import Face
from allminds.web.agenda import Agenda, Stop
from allminds.web.app import create_app, now_in_ms
from allminds.web.debrief import against, score
from allminds.web.design import Page
from allminds.web.export import export_folder, results
from allminds.web.questions import checks
from allminds.web.replays import own_side
from allminds.web.security import COOKIE
from allminds.web.serve import running
from allminds.web.store import Store
from allminds.web.study import PERSON, Study

if TYPE_CHECKING:
    import httpx

WAIT = 120  # seconds for another machine


@dataclass
class Taken:
    """What one machine did: its records test by test, and the server's response times."""

    label: str
    number: int
    agenda: Agenda  # its own: an arm, and an order of tests
    minds: list[str]  # test by test, in this order
    records: list[list[Record]]  # from its own side
    slots: list[int]  # where it sat, test by test
    seconds: list[float]


class Browser:
    """As much of a browser as a study needs: a cookie, and the form on the present page."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.cookie = ""
        self.screen = ""
        self.exercise: int | None = None
        self.step: int | None = None
        self.slot = 0
        self.form: dict[str, str] = {}
        self.seconds: list[float] = []

    def join(self, invite: str) -> None:
        """Open the link, and press the button."""
        self.client.get(f"/j/{invite}").raise_for_status()
        reply = self.client.post("/join", data={"invite": invite})
        cookie = reply.headers.get("set-cookie", "").partition(";")[0]
        if reply.status_code != 303 or not cookie.startswith(COOKIE):
            raise Error(f"the study did not let a machine in: {reply.status_code}")
        self.cookie = cookie
        self._read(self._sent("GET", "/", None))

    def post(self, path: str, **fields: str) -> None:
        """Send the form of this page with some fields filled in, and read the next."""
        self._read(self._sent("POST", path, {**self.form, **fields}))

    def wait(self, *screens: str) -> None:
        """Look again until another participant has moved, and this is none of these screens."""
        until = time.monotonic() + WAIT
        while self.screen in screens:
            if time.monotonic() > until:
                raise Error(
                    f"no participant arrived or moved for {WAIT} s at the screen {self.screen}"
                )
            time.sleep(0.02)
            self._read(self._sent("GET", "/", None))

    def _sent(self, method: str, path: str, data: dict[str, str] | None) -> httpx.Response:
        headers = {"Cookie": self.cookie, "Accept": "application/json"}
        start = time.perf_counter()
        reply = self.client.request(method, path, data=data, headers=headers)
        self.seconds.append(time.perf_counter() - start)
        if reply.status_code != 200:
            raise Error(f"{method} {path} was answered by {reply.status_code}")
        return reply

    def _read(self, reply: httpx.Response) -> None:
        found = reply.json()
        self.screen, self.exercise, self.step = found["screen"], found["exercise"], found["step"]
        self.slot = found["slot"] or 0
        reader = _Hidden()
        reader.feed(found["html"])
        self.form = reader.fields


class _Hidden(HTMLParser):
    """A parser for the hidden fields of a page; all its forms have the same."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "input" and found.get("type") == "hidden" and found.get("name"):
            self.fields[str(found["name"])] = found.get("value") or ""


# ---------------------------------------------------------------- a mind at the browser


class AtTheBrowser:
    """A mind whose every action that counts is also made in the browser.

    Machine 0 draws the runner's words; the others draw words of their own, or all would be one.
    In a game between two all draw the runner's, since each plays the other's part along.
    """

    def __init__(
        self, mind: Any, send: Callable[[str], None], face: Face, exercise: Exercise, number: int
    ) -> None:
        self.mind, self.send, self.face = mind, send, face
        self.exercise, self.number = exercise, number
        self.shadow: Episode | None = None  # of one who is alone
        self.counts = False
        if hasattr(mind, "learn"):
            self.learn = mind.learn

    def begin(self, task: Task) -> None:
        """Begin a play; only the play that counts is followed in the browser."""
        self.counts = not task.rehearsal
        self.shadow = Episode(self.exercise) if self.counts and task.slots == 1 else None
        if hasattr(self.mind, "begin"):
            self.mind.begin(task)

    def act(self, observation: Any, random: Random) -> Any:
        """Return the mind's action, and send it to the browser as well."""
        action = self.mind.act(observation, random.part(self.number) if self.number else random)
        if self.counts:
            self.send(choice_for(self.face, observation, self.shadow, action))
        if self.shadow is not None:
            self.shadow.play({0: action})
        return action


def choice_for(face: Face, seen: Any, episode: Episode | None, action: Any) -> str:
    """Find what a participant would choose for this action: the choice with the same effect."""
    choices = {choice: face.action(choice, seen) for choice in face.choices(seen)}
    for choice, taken in choices.items():
        if taken == action:
            return choice
    if episode is not None:
        environment, state, step = episode.environment, episode.state, episode.step + 1
        wanted = environment.step(state, {0: action}, episode.random.at_step(step))
        for choice, taken in choices.items():
            if environment.step(state, {0: taken}, episode.random.at_step(step)) == wanted:
                return choice
    raise Error(f"no choice on the screen does what action {action!r} does")


@dataclass
class Participant:
    """One machine and its way through the agenda."""

    agenda: Agenda
    browser: Browser
    number: int
    minds: Sequence[str]
    records: list[list[Record]] = field(default_factory=list)
    slots: list[int] = field(default_factory=list)
    companies: dict[int, Company] = field(default_factory=dict)  # by test, of courses

    def take(self) -> list[list[Record]]:
        """Go through all screens, in order."""
        self.records = [[] for _ in self.agenda.study.tests]
        self.slots = [given.slot for given in self.agenda.study.tests]
        for number, place in enumerate(self.agenda.places[:-1]):
            self.browser.wait("room", "waiting")
            if place.kind == "room":
                continue  # whoever comes second is not even shown it
            if self.browser.screen != place.kind:
                raise Error(f"screen {number} is {self.browser.screen}, not {place.kind}")
            if place.kind == "consent":
                self.browser.post("/consent", accept="yes")
            elif place.kind == "check":
                asked = checks(self.agenda.face(place.test))
                self.browser.post("/check", **{one.name: one.right for one in asked})
            elif place.kind == "exercise":
                self._exercise(place)
            elif place.kind == "questions":
                self.browser.post("/answers", **answers_to(place.page))
            else:
                self.browser.post("/next")
        return self.records

    def _exercise(self, place: Stop) -> None:
        test, slot = place.test, self.browser.slot
        exercise = self.agenda.exercise(
            test, place.practice, self.agenda.number(place, self.number), self.records[test]
        )
        face = self.agenda.face(test, place.practice, slot)
        line_up = seated(self.agenda, test, self.minds[test], slot, place.practice)
        if exercise.lesson is not None:
            company = self.companies.setdefault(test, Company(line_up, Watch(0)))
            line_up = company.seated(exercise.lesson)
        (seat,) = (seat for seat in line_up.seats if slot in seat.slots)
        number = 0 if self.agenda.study.tests[test].opponent == PERSON else self.number

        def send(choice: str) -> None:
            self.browser.wait("waiting")
            self.browser.post("/choice", choice=choice, rt_ms="0", input="other")

        def make() -> AtTheBrowser:
            return AtTheBrowser(seat.subject.make(), send, face, exercise, number)

        mine = Seat(Subject(seat.subject.name, make, seat.subject.traits), (slot,))
        seats = tuple(mine if one is seat else one for one in line_up.seats)
        record = play(exercise, LineUp(line_up.name, seats), Watch(0))
        if set(record.status) != {"ok"}:
            raise Error(f"{line_up.name} failed {exercise.id}: {record.reason}")
        if not place.practice:
            self.records[test].append(own_side(record, slot))
            self.slots[test] = slot


def answers_to(page: Page) -> dict[str, str]:
    """Answer a page of questions as an attentive machine does, with what is allowed."""
    told = {}
    for one in page:
        least, most = one.least, one.most
        number = least if least is not None else min(0, most if most is not None else 0)
        other = "a machine"[: one.longest] if one.kind == "text" else f"{number:g}"
        for name in one.fields:
            told[name] = one.right or next(iter(one.values), other)
    return told


def seated(agenda: Agenda, test: int, mind: str, slot: int, practice: bool = False) -> LineUp:
    """Seat a mind in its slot and its opponent in the other; where people meet, name both."""
    tool, given = agenda.tool(test, practice), agenda.study.tests[test]
    line_up = registry.line_up(mind, tool)
    if not given.opponent or (given.opponent == PERSON and not practice):
        return line_up
    return against(line_up.seats[0].subject, agenda.study.machine(test, practice), slot)


# ---------------------------------------------------------------- the whole study


def fitting(study: Study, minds: Sequence[str]) -> list[str]:
    """Choose for every test the first of these minds that fits it; where none does, the floor."""
    found = []
    for test in range(len(study.tests)):
        tool = study.tool(test)
        meeting = study.tests[test].opponent == PERSON
        mine = [mind for mind in minds if _fits(mind, tool, meeting)]
        found.append(mine[0] if mine else tool.floor_mind)
    lost = next((mind for mind in minds if mind not in found), None)
    if lost is not None:
        tools = ", ".join(given.instrument for given in study.tests)
        raise Error(
            f"'{lost}' cannot take any test of this study ({tools}), or an earlier mind takes it"
        )
    return found


def _fits(mind: str, tool: Any, meeting: bool) -> bool:
    """Return whether a mind can take a test; several names only where people meet."""
    try:
        if len(parse_all(mind)) > 1 and not meeting:
            return False
        return not registry.line_up(mind, tool).seats[0].subject.group
    except Error:
        return False


def take_all(
    address: str, agenda: Agenda, invites: Sequence[tuple[str, str]], minds: Sequence[str],
    jobs: int = 4, said: Callable[[int], None] = lambda _done: None,
) -> list[Taken]:  # fmt: skip
    """Let as many machines as there are invitations take the study at this address."""
    import httpx

    done = 0

    def one(number: int) -> Taken:
        nonlocal done
        label, invite = invites[number]
        with httpx.Client(base_url=address, timeout=60) as client:
            browser = Browser(client)
            browser.join(invite)
            mine = Agenda(agenda.study.of(number))
            order = [agenda.study.names.index(name) for name in mine.study.names]
            chosen = [minds[test] for test in order]
            machine = Participant(mine, browser, number, chosen)
            records = machine.take()
            if browser.screen != "done":
                raise Error(f"the agenda ended at the screen {browser.screen}")
        done += 1
        said(done)
        return Taken(label, number, mine, chosen, records, machine.slots, browser.seconds)

    with ThreadPoolExecutor(max(2, jobs)) as pool:  # who waits for another must not hold it up
        return list(pool.map(one, range(len(invites))))


def in_the_runner(taken: Taken) -> list[list[Record]]:
    """Compute what the same minds make of the same exercises without a browser."""
    found: list[list[Record]] = []
    agenda = taken.agenda
    for test, (mind, slot) in enumerate(zip(taken.minds, taken.slots, strict=True)):
        line_up = seated(agenda, test, mind, slot)
        made: list[Record] = []
        company = Company(line_up, Watch(0))
        for place in agenda.places:
            if place.kind == "exercise" and place.test == test and not place.practice:
                exercise = agenda.exercise(test, False, agenda.number(place, taken.number), made)
                made.append(own_side(company.play(exercise, made), slot))
        found.append(made)
    return found


def roomy(study: Study, participants: int) -> Study:
    """Adapt the study for a trial: for so many participants, open now, without time limits."""
    meeting = any(given.opponent == PERSON for given in study.tests)
    if meeting and participants % 2:
        raise Error(
            f"people meet in '{study.slug}': let an even number take it, not {participants}"
        )
    patient = {"wait_seconds": 3600, "move_seconds": 0}
    tests = [given.model_copy(update=patient) for given in study.tests]
    limits = study.limits.model_copy(
        update={"choices_per_second": 1e9, "joins_per_minute": 1e9, "requests_per_second": 1e9}
    )
    now_open: dict[str, Any] = {"opens": None, "closes": None}
    changes = {"participants": participants, "limits": limits, "tests": tests}
    return study.model_copy(update=changes | now_open)


def simulate(
    study: Study, minds: Sequence[str], participants: int, where: str, out: Path | None = None,
    jobs: int = 4, said: Callable[[int], None] = lambda _done: None,
) -> dict[str, Any]:  # fmt: skip
    """Let machines take a study in a new database, and compare what it kept with what they did."""
    trial = roomy(study, participants)
    chosen = fitting(trial, minds)
    store = Store(where, create=True)
    try:
        store.add_study(trial, "simulated", now_in_ms())
        row = store.study(trial.slug)
        invites = store.invite(row, [f"machine-{n}" for n in range(participants)], now_in_ms())
        agenda = Agenda(trial)
        app = create_app(store, limits=trial.limits)
        with running(app) as address:
            taken = take_all(address, agenda, invites, chosen, jobs, said)
        with store.reading() as db:
            kept = [(one["mind"], one["score"]) for one in results(db, row)]
        folder = export_folder(store, row, out) if out is not None else {}
    finally:
        store.close()
    own = {one.label: [r.score[0] for test in one.records for r in test] for one in taken}
    there = {label: [s for who, s in kept if who == f"person/{label}"] for label in own}
    first = [record for test in in_the_runner(taken[0]) for record in test]
    times = sorted(seconds for one in taken for seconds in one.seconds)
    return {
        "study": trial.slug,
        "minds": chosen,
        "participants": len(taken),
        "as_played": sum(there[label] == scores for label, scores in own.items()),
        "as_in_the_runner": there[taken[0].label] == [record.score[0] for record in first],
        "scores": _means(agenda, taken),
        "requests": len(times),
        "median_ms": round(1000 * times[len(times) // 2], 2),
        "p99_ms": round(1000 * times[len(times) * 99 // 100], 2),
        "out": folder.get("out"),
    }


def _means(agenda: Agenda, taken: Sequence[Taken]) -> list[dict[str, Any]]:
    """Average the scores of the machines, by test."""
    found = []
    for name, given in zip(agenda.study.names, agenda.study.tests, strict=True):
        scores = [
            score(one.agenda.tool(test), one.records[test])
            for one in taken
            for test, mine in enumerate(one.agenda.study.names)
            if mine == name
        ]
        known = [value for value in scores if value is not None]
        mean = sum(known) / len(known) if known else None
        lowest, highest = (min(known), max(known)) if known else (None, None)
        figures = {"mean": mean, "lowest": lowest, "highest": highest}
        found.append({"instrument": given.instrument, **figures})
    return found
