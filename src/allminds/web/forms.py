"""What browsers send: the fields of every form, and how long they may be.

Fields that a form does not have are left out, but for those whose names a study chooses.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Short = Annotated[str, Field(max_length=128)]
Word = Annotated[str, Field(max_length=32)]
Place = Annotated[int, Field(ge=0, le=1_000_000)]
Invite = Annotated[str, Field(max_length=200)]


class Join(BaseModel):
    """Begin a session, or resume one."""

    invite: Invite
    external_id: Short = ""
    signature: Short = ""
    language: Short = ""
    viewport: Short = ""
    pointer: Short = ""


class OfSession(BaseModel):
    """A form of a session, which shows by its token that it is from one of its own pages."""

    token: Short = ""


class OfPlace(OfSession):
    """A form of one screen; one that is not of the present screen changes nothing."""

    place: Place


class Answers(OfPlace):
    """Answers to questions that a study chooses."""

    model_config = ConfigDict(extra="allow")

    @property
    def given(self) -> dict[str, str]:
        """The answers by the names of the questions; what is no text is left out."""
        return {k: v for k, v in (self.model_extra or {}).items() if isinstance(v, str)}


class Consent(Answers):
    """Agree to take part; `about_…` is what participants say of themselves."""

    accept: Short = ""


class Choice(OfSession):
    """A move: which, in which step of which exercise, and how it was made."""

    exercise: Place
    step: Place
    choice: Annotated[str, Field(max_length=64)]
    rt_ms: Short = ""
    input: Word = ""
    client_ts: Short = ""
    first: Annotated[str, Field(max_length=64)] = ""
    changes: Word = ""


class Partner(OfPlace):
    """What to do without another participant to play with."""

    answer: Short = ""


class Language(OfSession):
    """Another language, behind a link or in a session."""

    language: Annotated[str, Field(max_length=16)]
    invite: Annotated[str, Field(max_length=200, pattern="^[A-Za-z0-9_-]*$")] = ""
    external_id: Short = ""
    signature: Short = ""


class Note(OfSession):
    """A note that a page lost the focus, was hidden, or had something pasted into it."""

    kind: Word
    ms: Short = ""
