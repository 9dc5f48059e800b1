"""Quick forms of Λ: bit-equal to the plain ones, and never needed to understand it."""
