"""One layer each: embeddings, positions, recurrent walks, convolutions, transformer layers, pooling."""
