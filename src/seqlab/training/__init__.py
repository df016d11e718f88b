"""The loop, schedules, checkpoints and the journal."""
