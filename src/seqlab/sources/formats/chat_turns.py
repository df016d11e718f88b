"""Conversations in JSON, as chat models are tuned on: a list of turns becomes a prompt and a response.

{"messages": [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}]}     OpenAI
{"conversations": [{"from": "human", "value": "2 + 2?"}, {"from": "gpt", "value": "4"}]}         ShareGPT
"""

from __future__ import annotations

from typing import Any

KEYS = (("role", "content"), ("from", "value"))
"""The keys of who speaks and of what is said."""
ANSWERING = ("assistant", "gpt", "model", "bot", "chatgpt")
PROMPT, RESPONSE = "prompt", "response"


def prompt_and_response(turns: list[Any]) -> dict[str, str]:
    """The last answer, and everything before it, a line for each turn; empty if the list is not a conversation with an answer.

    >>> prompt_and_response([{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}])
    {'prompt': '2 + 2?', 'response': '4'}
    >>> prompt_and_response([{"role": "user", "content": "2 + 2?"}]), prompt_and_response([{"name": "bug"}])
    ({}, {})
    """
    if not turns or not isinstance(turns[0], dict):
        return {}
    speaker, said = next((pair for pair in KEYS if all(key in turns[0] for key in pair)), ("", ""))
    if not speaker or not all(isinstance(turn, dict) and isinstance(turn.get(said), str) for turn in turns):
        return {}
    answers = [at for at, turn in enumerate(turns) if turn.get(speaker) in ANSWERING]
    if not answers or not answers[-1]:
        return {}
    before = "\n".join(turn[said] for turn in turns[: answers[-1]])
    return {PROMPT: before, RESPONSE: turns[answers[-1]][said]}
