"""The web app: people take the same tests as programs, in a browser (extra `web`).

Read in this order: `study` (what a researcher writes down), `agenda` (the screens that follow from
it), `replays` (exercises as choices left them), `tables` and `store` (what is kept), `session` (one
request, and what a gap means), `pairing` (games between two people), `sessions` (from links and
tokens to the screen that is due), `security`, `app`, `serve`. Beside them: `monitor`, `export`,
`debrief`, `simulate`. What is seen is in `screens`, `questions`, `languages` and `static`.
"""
