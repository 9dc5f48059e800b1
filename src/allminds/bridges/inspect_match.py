"""One exercise in Inspect, played step by step by models, agents and minds of allminds.

`Match` holds the exercise of a sample. The plain loop (`play`) asks the model by the conversation
that `allminds evaluate` has. Any other solver or agent plays with the tool `act`: a call is an
answer, and its result is what is seen next. Whatever the solver, a reply that cannot be read is
treated alike, and an exercise that is not played to its end has failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from inspect_ai.model import GenerateConfig, Model, get_model, model_roles
from inspect_ai.model._generate_config import active_generate_config  # of the evaluated model
from inspect_ai.solver import Generate, TaskState, solver
from inspect_ai.tool import ContentImage, ContentText, Tool, ToolError, python, tool
from inspect_ai.util import LimitExceededError, collect, store

from allminds import registry
from allminds.bridges.conversation import Conversation, Question, Said
from allminds.bridges.inspect_play import seats
from allminds.bridges.manner import Manner, sent_by
from allminds.bridges.messages import config_of, messages, tools_of
from allminds.bridges.providers import rejected
from allminds.bridges.replies import Reading, read_answer
from allminds.contracts import Failure, Record
from allminds.core.errors import Error
from allminds.core.seeding import MINDS, Random, key
from allminds.core.watch import Watch
from allminds.episode import Episode, Player
from allminds.until import exercise_of

MATCH = "allminds_match"  # the name of a match in its sample's store
MATCHES: dict[str, Match] = {}  # those that are being played
TOOLS = ("scratchpad", "python")  # that a task may allow beside `act`
OVER = "The exercise is over."
BY_TOOL = (
    "Call the tool `act` with your answer, {}: its result is what you see next. Go on until the "
    "exercise is over. (Without such a tool, end your reply with a line that has only your answer: "
    "ANSWER: {})"
)


class Match:
    """The exercise of a sample: models in some slots, minds of allminds in the others.

    `mine` is the slot of the solver; models in other slots are asked by the plain conversation.
    """

    def __init__(self, state: TaskState) -> None:
        about = state.metadata
        self.state = state
        self.tool = registry.make_instrument(about["instrument"], about["settings"])
        self.exercise = exercise_of(self.tool, about)
        self.episode = Episode(self.exercise)
        self.sitting = seats(self.tool, about["against"])
        self.ours = {s: Player(one, self.exercise, Watch()) for s, one in self.sitting.items()}
        for player in self.ours.values():
            player.begin(self.episode, rehearsal=False)
        self.manner = Manner(**about["manner"])
        self.talks = {s: self._talk(s) for s in range(self.tool.slots) if s not in self.ours}
        self.models = {s: model_in(s) for s in self.talks}
        first = min(self.episode.waiting)
        self.mine = first if first in self.talks else min(self.talks)
        self.asked: list[int] = []  # slots that are being asked, for the case that it is broken off
        self.plain = True  # the plain loop plays
        self.begun = False

    @classmethod
    def of(cls, state: TaskState) -> Match:
        """Return the match of a sample, made if it is not there yet."""
        if state.uuid not in MATCHES:
            MATCHES[state.uuid] = cls(state)
            state.store.set(MATCH, state.uuid)
        return MATCHES[state.uuid]

    def _talk(self, slot: int) -> Conversation:
        talk = Conversation(self.tool, self.manner)
        talk.begin(self.episode.task(slot))
        return talk

    @property
    def record(self) -> Record | None:
        """The record of the exercise, once it is over."""
        return self.episode.record

    # ------------------------------------------------------------ one step

    async def step(self, given: Mapping[int, Any]) -> None:
        """Play one step with the actions that are given; ask for those of all other slots."""
        waiting = self.episode.waiting
        models = [slot for slot in waiting if slot in self.talks and slot not in given]
        self.asked[:] = models
        calls = [self.speak(slot, waiting[slot]) for slot in models]
        said = [await calls[0]] if len(calls) == 1 else await collect(*calls)
        actions = {slot: given[slot] for slot in waiting if slot in given}
        actions |= dict(zip(models, said, strict=True))
        for slot in waiting:
            if slot in self.ours:
                actions |= self.ours[slot].act(waiting, self.episode.step)
        self.asked[:] = []
        if self.episode.play(actions):
            for slot, talk in self.talks.items():
                talk.told(self.episode.rewards[-1][slot])
            for player in self.ours.values():
                player.learn(self.episode)

    async def speak(self, slot: int, observation: Any) -> Any:
        """Ask the model in a slot by its conversation, until there is an action or a failure."""
        turn = self.talks[slot].turn(observation, self.random(slot))
        question = next(turn)
        while True:
            output = await self._answer(slot, question)
            if isinstance(output, Failure):
                return output
            try:
                question = turn.send(output)
            except StopIteration as end:
                return end.value

    async def _answer(self, slot: int, question: Question) -> Any:
        sent = messages(question)
        if slot == self.mine:
            last = max((n for n, one in enumerate(sent, 1) if one.role == "assistant"), default=0)
            self.state.messages = [*self.state.messages, *sent[last:]] if self.begun else sent
            self.begun = True
        try:
            output = await self.models[slot].generate(
                sent, tools=tools_of(question), config=config_of(question) or GenerateConfig()
            )
        except LimitExceededError:
            raise
        except Exception as error:  # every provider has its own
            found = rejected(error)
            if found is None:
                raise  # the provider's fault: Inspect retries it, or marks the sample as broken
            return found
        if slot == self.mine:
            self.state.messages.append(output.message)
            self.state.output = output
        return output

    def random(self, slot: int) -> Random:
        """Return the random words of a slot at this step, those of the mind in it elsewhere."""
        place = key(self.exercise.seed, self.exercise.index, MINDS + slot)
        return Random(place).at_step(self.episode.step)

    # ------------------------------------------------------------ agents

    def open(self) -> list[Any]:
        """Return the first message to an agent: the rules, how to answer, and what is seen."""
        self.plain, talk = False, self.talks[self.mine]
        talk.how = BY_TOOL.format(talk.expected, talk.expected)
        talk.see(self.episode.observe(self.mine))
        return messages(replace(talk.question(), answer="text"))

    async def taken(self, found: Reading) -> Said:
        """Play on with an agent's answer until it is asked again; return what it is told.

        Raise a `ToolError` with the reason if it is to answer once more.
        """
        if self.record is not None:
            return Said("user", OVER)
        talk, seen = self.talks[self.mine], self.episode.waiting[self.mine]
        action = talk.hear(found, seen, self.random(self.mine))
        if action is None:
            raise ToolError(talk.complaint(found.action.reason))
        await self.step({self.mine: action})
        while self.record is None and self.mine not in self.episode.waiting:
            await self.step({})
        if self.record is not None:
            self.state.completed = True  # nothing more is asked
            return Said("user", OVER)
        talk.see(self.episode.waiting[self.mine])
        return talk.now[0]

    async def close(self, limit: str | None) -> None:
        """End an exercise that was not played to its end: the last reply may be an answer."""
        if self.record is None and limit is None:
            talk, seen = self.talks[self.mine], self.episode.waiting[self.mine]
            found = talk.reading(self.state.output, seen)
            talk.readings.append(found)
            if found.read:
                await self.step({self.mine: found.action})
        if self.record is not None:
            return
        steps, of = self.episode.step, self.episode.environment.steps
        failure = Failure("refused", f"stopped after {steps} of {of} steps")
        if limit is not None:
            failure = Failure("timeout", "broken off")
        elif not found.read and not steps:
            failure = found.action
        self.episode.fail(dict.fromkeys(self.asked or [self.mine], failure))

    # ------------------------------------------------------------ what is kept

    def kept(self, agent: str = "") -> dict[str, Any]:
        """Return the record in the form that the log stores, slot by slot."""
        record, teams = self.record, self.exercise.environment.teams
        assert record is not None
        slots = range(self.tool.slots)
        return {
            "minds": [self._name(slot, agent) for slot in slots],
            "team": [next(n for n, team in enumerate(teams) if s in team) for s in slots],
            "score": list(record.score),
            "learning": list(record.learning),
            "status": list(record.status),
            "reason": record.reason,
            "steps": record.steps,
            "actions": [{str(s): action for s, action in at.items()} for at in record.actions],
            "counts": [self.talks[s].counts() if s in self.talks else None for s in slots],
        }

    def _name(self, slot: int, agent: str) -> str:
        if slot in self.ours:
            return self.sitting[slot].subject.name
        model = self.models[slot]
        config = model.config
        if model == get_model():
            config = config.merge(active_generate_config())
        name = replace(self.manner, **sent_by(config)).named(str(model), self.tool)
        return f"{name[:-1]},agent={agent})" if agent and slot == self.mine else name


def model_in(slot: int) -> Model:
    """Return the model of the role ``slot_0``, ``slot_1``, … if there is one, else the evaluated.

    A copy of the evaluated model, as `get_model` makes by a default, has not its settings.
    """
    role = f"slot_{slot}"
    return get_model(role=role) if role in model_roles() else get_model()


# ---------------------------------------------------------------- tools


@tool(parallel=False)
def act() -> Tool:
    """Make the tool by which an agent answers; its result is what the agent sees next."""

    async def execute(action: str) -> Any:
        """Give your answer for this step; the result is what you see next.

        Args:
            action: Just the answer, in the form that the rules name.
        """
        match = MATCHES.get(store().get(MATCH, ""))
        if match is None:
            raise Error("the tool act is for tasks of allminds: inspect eval allminds/…")
        seen = match.episode.waiting.get(match.mine)
        said = await match.taken(read_answer(match.tool, action, seen))
        if said.picture is None:
            return said.text
        shown = messages(Question([replace(said, text="")], Manner(), "text"))[0].content
        images = [one for one in shown if isinstance(one, ContentImage)]
        return [*([ContentText(text=said.text)] if said.text else []), *images]

    return execute


@tool
def scratchpad() -> Tool:
    """Make a tool that keeps notes for the length of an exercise."""

    async def execute(note: str = "") -> str:
        """Write a note and read all that you wrote in this exercise; without a note, only read.

        Args:
            note: What to write down.
        """
        notes = [*store().get("allminds_notes", []), *([note] if note else [])]
        store().set("allminds_notes", notes)
        return "\n".join(notes) or "There are no notes."

    return execute


def allowed(names: Sequence[str]) -> list[Tool]:
    """Make the tools that a task allows beside `act`."""
    makers = {"scratchpad": scratchpad, "python": python}
    for name in names:
        if name not in makers:
            raise Error(f"there is no tool '{name}'; a task may allow {' and '.join(TOOLS)}")
    return [makers[name]() for name in names]


# ---------------------------------------------------------------- solvers


@solver
def seated(tools: Sequence[str] = ()) -> Any:
    """Set the exercise of a sample up, whatever solver plays it: the tool `act`, and the rules."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - asks nothing
        match = Match.of(state)
        state.messages = match.open()
        state.tools = [act(), *allowed(tools)]
        return state

    return solve


@solver
def play() -> Any:
    """Play the sample's exercise to its end, by the conversation of `allminds evaluate`.

    Every slot without a mind of `against` has a model: that of the role ``slot_0``, ``slot_1``, …
    if there is one, else the evaluated model.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - models of roles
        match = MATCHES[state.uuid] = Match(state)  # as if nothing had been said to an agent
        state.store.set(MATCH, state.uuid)
        while match.record is None:
            await match.step({})
        state.completed = True
        return state

    return solve


@solver
def agent() -> Any:
    """Let the model play with the tool `act` and those that the task allows, until it is over.

    A reply without a call is read as an answer.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        match = Match.of(state)
        while match.record is None:
            state = await generate(state, tool_calls="loop")
            seen = match.episode.waiting.get(match.mine)
            if match.record is not None or seen is None:
                break
            found = match.talks[match.mine].reading(state.output, seen)
            try:
                told = await match.taken(found)
            except ToolError as error:
                told = Said("user", error.message)
            said = messages(Question([told], match.manner, "text"))
            state.messages.extend(said)
        return state

    return solve


async def forget(state: TaskState) -> None:
    """Drop the match of a sample that is done."""
    MATCHES.pop(state.uuid, None)
