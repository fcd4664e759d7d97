"""What is left out unless the user says otherwise, by subject. `veilset search profile exclusions` prints it."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Literal, get_args

Subject = Literal["banking", "health", "private", "people"]
SUBJECTS: tuple[Subject, ...] = get_args(Subject)

MEANINGS: dict[Subject, str] = {
    "banking": "Banks, payment, investment and credit, and mail from and to them.",
    "health": "Portals of patients, insurers, clinics and pharmacies, and mail from and to them.",
    "private": "Hosts of this machine, a home or a company: localhost, private addresses, names without a dot.",
    "people": "Names of the people whom you write to or hear from, of people in texts where a given name shows them, "
    "e-mail addresses, telephone numbers, street addresses and long numbers: they are cut out of titles and texts.",
}

SITES: dict[Subject, tuple[str, ...]] = {
    "banking": (
        "*bank*",
        "*banque*",
        "*banco*",
        "*banca*",
        "*sparkasse*",
        "*creditunion*",
        "*brokerage*",
        "*mortgage*",
        "*hypothek*",
        "adyen.com",
        "americanexpress.com",
        "binance.com",
        "boursorama.com",
        "bunq.com",
        "capitalone.com",
        "chase.com",
        "citi.com",
        "coinbase.com",
        "discover.com",
        "equifax.com",
        "experian.com",
        "fidelity.com",
        "hsbc.co.uk",
        "hsbc.com",
        "ing.com",
        "ing.de",
        "ing.nl",
        "klarna.com",
        "kraken.com",
        "mastercard.com",
        "monzo.com",
        "n26.com",
        "natwest.com",
        "paypal.com",
        "revolut.com",
        "santander.com",
        "schufa.de",
        "schwab.com",
        "transunion.com",
        "vanguard.com",
        "visa.com",
        "wellsfargo.com",
        "wise.com",
    ),
    "health": (
        "*mychart*",
        "*patient*",
        "*clinic*",
        "*klinik*",
        "*clinique*",
        "*hospital*",
        "*hopital*",
        "*krankenhaus*",
        "*krankenkasse*",
        "*pharmacy*",
        "*apotheke*",
        "*pharmacie*",
        "*therap*",
        "aetna.com",
        "ameli.fr",
        "anthem.com",
        "aok.de",
        "barmer.de",
        "betterhelp.com",
        "cigna.com",
        "dak.de",
        "doctolib.de",
        "doctolib.fr",
        "healthcare.gov",
        "jameda.de",
        "kaiserpermanente.org",
        "kp.org",
        "labcorp.com",
        "mayoclinic.org",
        "nhs.uk",
        "questdiagnostics.com",
        "talkspace.com",
        "teladoc.com",
        "tk.de",
        "uhc.com",
        "unitedhealthcare.com",
        "webmd.com",
        "zocdoc.com",
    ),
    "private": (
        "corp",
        "home",
        "home.arpa",
        "internal",
        "intranet",
        "lan",
        "local",
        "localdomain",
        "localhost",
        "onion",
        "private",
        "test",
    ),
    "people": (),
}
"""The sites of each subject; a star stands for any letters."""


def is_private_host(host: str) -> bool:
    """Whether a host is an address that is not public, or a name without a dot.

    >>> is_private_host("192.168.0.1"), is_private_host("printer"), is_private_host("example.org")
    (True, True, False)
    """
    try:
        return not ip_address(host.strip("[]").partition("%")[0]).is_global
    except ValueError:
        return "." not in host
