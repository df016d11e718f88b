"""How the inputs of a task become steps: text through a tokenizer, numbers through a scale."""
