"""One folder per task, made of small parts: spec, codec, network, objective, evaluator, predictor."""
