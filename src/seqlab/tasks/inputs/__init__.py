"""Convert the inputs of a task to steps: text with a tokenizer, numbers with a scale."""
