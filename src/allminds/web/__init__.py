"""The web app: people take the same tests as programs, in a browser (extra `web`).

Read in this order: `study` (what a researcher writes down, and the course of screens that follows
from it), `store` (what is kept), `sessions` (what a participant is shown) with its parts
`sessions_desk`, `sessions_visit` (one request), `sessions_play` (how an exercise is replayed),
`sessions_gaps` (what a gap means) and `sessions_pair` (games between two people), `security`,
`app`. Beside them: `monitor`, `export`, `debrief`, `simulate`. `faces`, `screens`, `languages`
and `static` are what is seen.
"""
