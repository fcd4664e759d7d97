"""Methods for (h,k,p)-coherence: Xu's thesis (2008), chapter 4; Xu, Fung, Wang, Fu, Pei (ICDM 2008).

Suppressing an item changes no itemset without it (Observation 1). So which itemsets are moles is settled before
anything is suppressed: a set of items may be kept together if and only if it contains no minimal mole, and every method
here chooses items of which each minimal mole loses at least one.
"""
