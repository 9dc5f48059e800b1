"""Compiled twins of Λ*: whole episodes, many at once, bit-equal to the plain Python.

Episodes are laid out in blocks of `LANES`, struct of arrays: the way of Good, of Evil and of
each mind is an int16 array [block, step, lane] of rows and another of columns, from 0.
`worlds` makes the ways of Good and Evil, once for all minds; `singles` makes the ways of minds;
`settle` turns a way into rewards. Import this package only where a kernel runs.
"""
