"""Common column names in the languages of typical exports, and what they say about a column."""

from __future__ import annotations

import re
from collections.abc import Sequence


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# In order of preference, case-insensitive; a name also matches the last word of
# `airline_sentiment` or the first of `Preis (EUR)`.
TEXT_NAMES = _names("""
    text review tweet sentence content document comment message body name title question caption
    headline feedback description abstract summary post remark answer sms utterance quote kommentar
    beschreibung nachricht inhalt bemerkung bewertungstext rezension freitext satz frage antwort
    commentaire texte contenu phrase réponse texto comentario mensaje descripción reseña
    testo commento recensione tekst opmerking smiles selfies dna rna peptide
""")
LABEL_NAMES = _names("""
    label labels class target sentiment category emotion intent language lang tag tags topic topics y
    polarity queue department team section genre genres verdict outcome annotation gold toxic spam
    complaint kategorie kategorien klasse stimmung einschätzung urteil thema themen abteilung einstufung
    bewertung catégorie étiquette classe avis thème sujet etiqueta clase categoría sentimiento tema
    categoria etichetta argomento categorie onderwerp
""")
WEAK_LABEL_NAMES = _names("""
    type kind status group rating stars score grade priority severity stance resolution reason decision
    typ art sterne note priorität ergebnis grund gruppe statut priorité prioridad estado tipo
""")
"""Label names that just as often mean something else."""
NUMBER_NAMES = _names("""
    score rating stars grade price value number salary amount cost rent revenue weight duration minutes
    preis betrag miete gehalt kosten umsatz wert menge dauer gewicht prix montant loyer salaire coût
    valeur precio importe salario valor prezzo importo prijs bedrag
""")
PERSON_NAMES = _names("""
    author user username login customer client agent owner reviewer sender autor kunde cliente auteur
""")
SIDE_NAMES = (
    *PERSON_NAMES,
    *_names("""
    tier plan region country city state channel device platform browser version source origin locale
    gender sex age article product item sku brand model currency
    newsletter year month day week store shop branch length artikel produkt ort stadt land
    filiale geschlecht alter marke währung jahr monat ville pays produit région âge sexe
    marque année mois ciudad país producto edad
"""),
)
"""Names of metadata columns that are rarely what a model should predict."""
SEQUENCE_NAMES = _names("""
    sequence sequence_id series series_id seq seq_id id group trial recording
""")
SENTENCE_NAMES = _names("""
    sentence sentence_id sentence_idx sent sent_id id satz phrase document doc
""")
STEP_NAMES = _names("""
    step t time timestep index frame date timestamp datum zeit uhrzeit zeitstempel
""")
TIME_NAMES = (
    *STEP_NAMES,
    *_names("""
    day week month quarter year hour tag woche monat quartal jahr stunde jour mois
"""),
)
"""Time columns of a table in chronological order; unlike step names, some may be input features."""
WORD_NAMES = _names("""
    word words form token tokens text sentence
""")
TAG_NAMES = _names("""
    tag tags upos pos labels label
""")
SPLIT_NAMES = ("split", "subset", "fold")
LANGUAGES = _names("""
    en eng english englisch anglais de ger deu german deutsch allemand fr fra french französisch
    français es spa spanish español it ita italian italiano nl dutch pt portuguese pl polish ru russian
    cs czech sv da fi no tr zh ja ko ar hi uk el hu ro
""")
PAIR_NAMES = (
    ("source", "target"),
    ("src", "tgt"),
    ("src", "trg"),
    ("source", "translation"),
    ("original", "translation"),
    ("input", "output"),
    ("instruction", "output"),
    ("instruction", "response"),
    ("prompt", "completion"),
    ("prompt", "response"),
    ("question", "answer"),
    ("document", "summary"),
    ("article", "summary"),
    ("article", "highlights"),
    ("quelle", "ziel"),
    ("original", "übersetzung"),
    ("frage", "antwort"),
)
"""Names of source and target columns."""
TWIN_NAMES = (("premise", "hypothesis"), ("query", "passage"), ("question", "passage"), ("claim", "evidence"))
"""Names of two texts that share one label, such as a premise and a hypothesis."""
ID_NAME = re.compile(
    r"(^|_|\b)(id|ids|uuid|guid|key|index|idx|url|link|path|file|filename|image|timestamp|date|datum|created|updated"
    r"|nr|no|mail|email|phone|telefon|zip|plz)$",
    re.IGNORECASE,
)

CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Word boundaries in camel case: `reviewText`."""


def is_named(name: str, names: Sequence[str]) -> bool:
    """Whether a column name, its last or its first word is one of the names; for a nested column, the last part counts,
    and for `userName` what has the name.

    >>> is_named("airline_sentiment", ["sentiment"]), is_named("context", ["text"]), is_named("Preis (EUR)", ["preis"])
    (True, False, True)
    >>> is_named("ticket.body", ["body"]), is_named("text_length", ["text"]), is_named("reviewText", ["text"])
    (True, False, True)
    """
    last = bare_name(name)
    words = re.findall(r"[^\W_]+", CAMEL_CASE.sub("_", last).lower())
    last = last.lower()
    if last in names or not words:
        return last in names
    if words[-1] == "name" and len(words) > 1:
        words.pop()
    return words[-1] in names or ("(" in last and words[0] in names)


def bare_name(name: str) -> str:
    """The part of a nested name that says what the column holds: not the last one if that only wraps a value.

    >>> bare_name("ticket.body"), bare_name("group.name"), bare_name("author.name.label")
    ('body', 'group', 'author')
    >>> bare_name("im:rating.label"), bare_name("annotation.label"), bare_name("labels.name")
    ('rating', 'label', 'labels')
    """
    parent, _, last = name.rpartition(".")
    if not last:
        return parent.rpartition(".")[2] or name
    is_wrapper = last.lower() in ("name", "value") or (last.lower() == "label" and _is_property(parent))
    return bare_name(parent) if parent and is_wrapper else last.rpartition(":")[2] or last


def _is_property(name: str) -> bool:
    """Whether a name is that of a text, of metadata, or of a value, whose own `label` is then no class."""
    return is_named(name, (*TEXT_NAMES, *SIDE_NAMES, *NUMBER_NAMES, *WEAK_LABEL_NAMES, "name", "id", "count"))


def is_id_name(name: str) -> bool:
    """Whether a column is named like ids, links, dates or places of files.

    >>> is_id_name("tweet_id"), is_id_name("id.label"), is_id_name("idea")
    (True, True, False)
    """
    return bool(ID_NAME.search(name) or ID_NAME.search(bare_name(name)))


def any_known(name: str) -> bool:
    """Whether a name is a common name for any kind of column."""
    return is_id_name(name.strip()) or any(
        is_named(name, names)
        for names in (
            TEXT_NAMES, LABEL_NAMES, WEAK_LABEL_NAMES, NUMBER_NAMES, SIDE_NAMES, SEQUENCE_NAMES,
            STEP_NAMES, WORD_NAMES, SPLIT_NAMES, LANGUAGES, ("source", "target", "src", "tgt", "original"),
        )
    )  # fmt: skip


def names_columns(cells: Sequence[str]) -> bool:
    """Whether a first line names the columns of a table, a text and a label among them, rather than holding a
    word and its tag.

    >>> names_columns(["id", "tweet", "airline_sentiment"]), names_columns(["dog", "NOUN"])
    (True, False)
    """
    labels = (*LABEL_NAMES, *WEAK_LABEL_NAMES, *NUMBER_NAMES)
    return all(any(is_named(cell, names) for cell in cells) for names in (TEXT_NAMES, labels))
