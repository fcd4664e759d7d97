"""The auditor of ρ-uncertainty against the definition, and how it behaves as a kernel."""

from fractions import Fraction

from veilset.testing import oracles

TABLE_1 = ["a1 b1 b2 α γ", "a1 a2 b2", "a2 b2", "a2 γ", "a1 b2 α γ"]
FIGURE_16 = ["a1 α", "a2 α", "a1 a2 α", "a1 a2"]


def rows_of(lines: list[str]) -> list[frozenset[str]]:
    return [frozenset(line.split()) for line in lines]


def test_oracle_on_table_1():
    violations = oracles.rho_violations(rows_of(TABLE_1), ["α", "γ"], Fraction(7, 10))
    assert len(violations) == 23
    alone = {(*antecedent, s): count for (antecedent, s), count in violations.items() if len(antecedent) == 1}
    assert alone == {("b1", "α"): (1, 1), ("b1", "γ"): (1, 1), ("α", "γ"): (2, 2)}
    # Example A.1: suppressing b1 and α is enough.
    released = [row - {"b1", "α"} for row in rows_of(TABLE_1)]
    assert oracles.is_rho_uncertain(released, ["γ"], Fraction(7, 10))
    assert not oracles.is_rho_uncertain([row - {"b1"} for row in rows_of(TABLE_1)], ["α", "γ"], Fraction(7, 10))


def test_oracle_on_figure_16():
    rules = oracles.sensitive_rules(rows_of(FIGURE_16), ["α"])
    shares = {tuple(sorted(antecedent)): Fraction(*count) for (antecedent, _), count in rules.items()}
    two_thirds = Fraction(2, 3)
    assert shares == {(): Fraction(3, 4), ("a1",): two_thirds, ("a2",): two_thirds, ("a1", "a2"): Fraction(1, 2)}
    generalized = [frozenset("A" if item != "α" else item for item in row) for row in rows_of(FIGURE_16)]
    assert oracles.sensitive_rules(generalized, ["α"])[frozenset("A"), "α"] == (3, 4)
