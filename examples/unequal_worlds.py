"""Two minds in a world with their own rewards: rivals, or partners who clean up for each other.

In Λ with trails, Good leaves +1 behind and Evil -1, and whoever steps on a cell takes what lies
there. If both want what Good leaves, each takes it from the other. If one wants what Evil leaves,
each takes away what the other shuns. Run it: ``python examples/unequal_worlds.py``. It prints, for
either world, what slot 0 gains from slot 1 and slot 1 from slot 0, with 95 % intervals:

    rivals    −0.386 [−0.392, −0.379] loses   −0.385 [−0.391, −0.379] loses
    partners   0.099   [0.093, 0.105] gains    0.106   [0.100, 0.112] gains
"""

from __future__ import annotations

from allminds.inference.words import interval, number
from allminds.statistics.gains import gains

WORLDS = {"rivals": "1:-1", "partners": "1:-1,-1:1"}  # weights of Good and Evil, slot by slot


def main(episodes: int = 350) -> None:
    """Print who gains from whom in both worlds."""
    for name, weights in WORLDS.items():
        settings = {"agents": 2, "rewards": "trail", "weights": weights}
        found = gains("lambda", ["expert", "expert"], settings=settings, episodes=episodes)
        said = [
            f"{number(one.found.mean):>6} {interval(one.found.interval):>16} {one.word}"
            for one in found
        ]
        print(f"{name:<9} {'   '.join(said)}")


if __name__ == "__main__":
    main()
