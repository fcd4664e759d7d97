"""stub"""


def verdict(audit, *, merged):
    return str(audit)


def audit_facts(audit):
    return {
        "holds": audit.holds,
        "witnesses": [{"itemset": list(w.itemset), "sensitive": w.sensitive} for w in audit.witnesses],
    }


def release_facts(release):
    return {"verdict": "GO" if release.certified else "NO-GO"}


def print_reading(data, console):
    console.print(repr(data))


def print_audit(audit, data, console):
    console.print("DOES NOT HOLD", str(audit))


def print_release(release, console):
    console.print(repr(release))


def public_report(data, audit, *, loss_percent, version, merged):
    return "<p>"


def custodian_report(release, *, before):
    return "<p>"
