"""The web app: people take the same tests as programs, in a browser (extra `web`).

Read in this order: `study` (what a researcher writes down, and the course of screens that follows
from it), `store` (what is kept), `contexts` (what a participant is shown) with its parts
`arrivals`, `session` (one request, and what a gap means), `replays` (how an exercise is replayed)
and `pairing` (games between two people), `security`,
`app`. Beside them: `monitor`, `export`, `debrief`, `simulate`. `faces`, `screens`, `languages`
and `static` are what is seen.
"""
