"""The model card of a run: card.md."""
