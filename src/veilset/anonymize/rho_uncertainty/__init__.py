"""Methods for ρ-uncertainty: Cao, Karras, Raïssi, Tan (VLDB 2010). Sensitive items may always be suppressed."""
