"""One layer each: embeddings, positions, recurrent scans, convolutions, transformer layers, pooling."""
