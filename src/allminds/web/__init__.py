"""The web app: people take the same tests as programs, in a browser (extra `web`).

Read in this order: `study` (what a researcher writes down) and `study_course` (the screens it comes
to), `store` (what is kept), `sessions` (what a person is shown; its three parts say what a visit
does, how an exercise is replayed, and what a gap means), `security`, `app`. Beside them: `monitor`,
`export`, `debrief`, `simulate`. `faces`, `screens`, `languages` and `static` are what is seen.
"""
