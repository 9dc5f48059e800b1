"""What scores mean: `accuracy` (prediction on unseen tasks), `selection` (the cheapest mind or
group that will do, and where curves cross), `factors` (what a score depends on), `groups` (against
their members).
"""
