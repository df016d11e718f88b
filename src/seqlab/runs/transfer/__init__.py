"""Transfer learning: fine-tune a run, or distill it."""
