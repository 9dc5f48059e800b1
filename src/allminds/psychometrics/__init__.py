"""What scores mean: `factors` (what a score depends on), `groups` (against their members)."""
