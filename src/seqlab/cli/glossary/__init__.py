"""The terms that `seqlab explain` knows: a TOML file for each topic, read when a term is asked for."""
