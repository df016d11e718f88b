"""All mutants, by the part of the code that they break."""

from __future__ import annotations

from tests.mutations.mutant import Mutant
from tests.mutations.table.cells import CELLS
from tests.mutations.table.damage import DAMAGE
from tests.mutations.table.data import DATA
from tests.mutations.table.drop_ins import DROP_INS
from tests.mutations.table.first_files import FIRST_FILES
from tests.mutations.table.integrity import INTEGRITY
from tests.mutations.table.networks import NETWORKS
from tests.mutations.table.optimization import OPTIMIZATION
from tests.mutations.table.pages import PAGES
from tests.mutations.table.scores import SCORES
from tests.mutations.table.tasks import TASKS
from tests.mutations.table.training import TRAINING
from tests.mutations.table.writing import WRITING

MUTANTS: list[Mutant] = [
    *CELLS, *NETWORKS, *WRITING, *SCORES, *DATA, *TRAINING, *OPTIMIZATION, *TASKS, *PAGES, *INTEGRITY,
    *FIRST_FILES, *DAMAGE, *DROP_INS,
]  # fmt: skip
