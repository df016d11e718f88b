"""JoeyNMT's own training, in rounds: run by a Python that has it, told by a line on standard input when the
next round may begin.

    PYTHON joeynmt_rounds.py CONFIG.yaml UPDATES_OF_A_ROUND

After every round a line of JSON says how much CPU time it took and how many target tokens it saw. It
reads, batches, learns and logs as `joeynmt train` does; only its validations are kept out by the
configuration.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import torch
import yaml
from joeynmt import (
    training,
)  # installed beside the Python that runs this file, not in the project's environment

UPDATES = int(sys.argv[2])
plain_step = training.TrainManager._train_step  # noqa: SLF001 (the only place where each of its batches passes)
done, tokens, began = 0, 0, 0.0


def counted_step(self: Any, batch: Any) -> Any:
    global done, tokens, began  # noqa: PLW0603 (a script of one run)
    if done % UPDATES == 0:
        if done:
            print(json.dumps({"seconds": time.process_time() - began, "tokens": tokens}), flush=True)
        if not sys.stdin.readline():
            sys.exit()
        tokens, began = 0, time.process_time()
    done += 1
    tokens += int(batch.ntokens)
    return plain_step(self, batch)


torch.set_num_threads(1)
training.TrainManager._train_step = counted_step  # noqa: SLF001 (see above)
configuration = yaml.safe_load(Path(sys.argv[1]).read_text(encoding="utf-8"))
Path(configuration["model_dir"]).mkdir()
training.train(0, 1, configuration, skip_test=True)
