"""MC-AIXI (Veness, Ng, Hutter, Uther and Silver 2011), a mind for worlds that are written in bits.

Read in this order: `tree` (context-tree weighting, the model of the world), `search` (ρUCT, which
plans in it), `mind` (the mind, of which every instrument has a subclass that says how its world is
written in bits). `fast` has the compiled twins of the first two.
"""
