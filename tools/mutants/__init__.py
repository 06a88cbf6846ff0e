"""Parts of tools/mutate: reading C++ as far as it needs, inventing mutants, building them all into one muster-sim and
looking which of them the simulator's oracles notice."""
