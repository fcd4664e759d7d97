"""Words by which `people` tells names of people from other names."""

from __future__ import annotations

GIVEN_NAMES = frozenset(
    """
    adam adrian alan albert alexander alexandra alice alicia amanda amy ana andrea andreas andrew angela anja anna anne
    annette anthony antonio antje arthur astrid barbara beatrice benjamin bernard bernd birgit brandon brenda brian
    brigitte bruno camille carlos carmen carol carolina caroline catherine cecile charles charlotte chloe christian
    christina christine christoph christopher claire claudia claus corinna cristina cynthia daniel daniela david deborah
    denis denise dennis diana diane dieter dmitri dominik donald donna dorothy edward elena elisabeth elizabeth emily
    emma eric erik ernst esther etienne eva evelyn felix fernando florian francesca francesco francois frank franziska
    frederic friedrich fritz gabriel gabriele gareth gary georg george gerald gerhard gertrud giovanni giulia gregory
    guido guillaume gunther hannah hans harald harold heather heidi heike heinrich heinz helen helena helga helmut henri
    henry herbert hermann horst hugo ines ingrid irene irina isabel isabelle ivan jacob jacqueline jakob james jan jana
    janet jason javier jean jeffrey jennifer jens jeremy jerome jessica joan joachim johann johanna johannes john jonas
    jonathan jorge jose joseph joshua juan judith julia julian julie julien juergen justin karen karin karl katarina
    katharina katherine kathleen kathrin katja keith kenneth kerstin kevin kimberly klaus kurt larry laura lauren
    laurent lena leonard leonie linda lisa lorenzo louis louise luca lucas lucia lucie luis luisa lukas lutz manfred
    manuel manuela marc marcel marco marcus margaret maria marianne marie marina mario marion markus marta martha martin
    martina mary mathias mathilde matteo matthew matthias maurice melanie melissa michael michaela michel michelle
    miguel mohammed monica monika muhammad nadine nancy natalia natalie nathan nicholas nicolas nicole nikolai nina
    norbert oliver olivier olga pablo pamela paola patricia patrick paul paula pauline pedro peter petra philip philipp
    philippe pierre rachel rafael rainer ralf ralph ramona raphael raymond rebecca reinhard renate ricardo richard
    robert roberto roger roland ronald rosemary rudolf russell ruth ryan sabine sabrina samantha samuel sandra sarah
    sascha scott sebastian sergei sergio sharon silke silvia simon simone sofia sophia sophie stefan stefanie stephanie
    stephen steven susan susanne svetlana sylvia sylvie tatiana theodor theresa thierry thomas thorsten timothy tobias
    torsten tyler udo ulrich ulrike ursula uwe valentina vanessa vera veronica victoria vincent virginie vladimir volker
    walter werner wilhelm william wolfgang yannick yvonne zachary
    """.split()  # noqa: SIM905
)
"""Given names that many people have, and that are no common words."""

NOT_PEOPLE = frozenset(
    """
    account accounts admin alert alerts automated billing bot club co company contact customer daily digest donotreply
    editor events feedback gmbh group hello help inc info information invoice list lists ltd mail mailer marketing news
    newsletter no noreply notification notifications notify office order orders postmaster reply report reports root
    sales security service services shop store support system team the updates via webmaster weekly welcome
    """.split()  # noqa: SIM905
)
"""Words of senders that are no people."""
