"""Realistic short texts of several domains and languages: what the files of this folder are filled with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

Domain = Mapping[str, tuple[Sequence[str], Sequence[str], Sequence[str]]]
"""For each class: openings, middles and ends; a text is one of each."""

TICKETS: Domain = {
    "Billing": (
        ("Hello team,", "Good morning,", "Hi,", "To whom it may concern,", "Dear support,"),
        (
            "I was charged twice for the invoice of last month",
            "the payment with my credit card was declined again",
            "my refund has still not reached my bank account",
            "the discount code was not applied to the total",
            "I need a copy of the receipt with our VAT number",
        ),
        ("and I would like my money back.", "please correct the invoice.", "our accountant is waiting."),
    ),
    "Technical": (
        ("Hello,", "Hi there,", "Dear support,", "Urgent:", "Good afternoon,"),
        (
            "the app crashes whenever I open the settings page",
            "the login screen shows error 500 since the update",
            "our server cannot connect to the API any more",
            "the export button does nothing in Firefox",
            "the sync of my files hangs at 80 percent",
        ),
        ("after I restarted everything.", "can you fix this bug?", "here is a screenshot."),
    ),
    "Shipping": (
        ("Hi,", "Hello,", "Good evening,", "Dear all,", "Hello support,"),
        (
            "my parcel has been stuck in the warehouse for nine days",
            "the courier left the package with a neighbor I do not know",
            "the tracking number does not exist on the carrier's page",
            "two of the five boxes arrived damaged",
            "the delivery went to my old address",
        ),
        ("when will it arrive?", "please send a replacement.", "I was at home all day."),
    ),
    "Account": (
        ("Hello,", "Hi,", "Good day,", "Hey,", "Dear team,"),
        (
            "I cannot reset my password because the mail never comes",
            "please change the email address of my profile",
            "I want to delete my account and all of my data",
            "my colleague left and we need to transfer his user",
            "two-factor codes are not accepted on my new phone",
        ),
        ("thanks for your help.", "how do I do that?", "I cannot sign in."),
    ),
}
REVIEWS: Domain = {
    "positive": (
        ("Honestly,", "To my surprise,", "After two weeks of use,", "For the price,", "All in all,"),
        (
            "this kettle is wonderful and boils water in no time",
            "the battery lasts forever and it feels solid",
            "the fit is perfect and the fabric is lovely",
            "it works exactly as described, great quality",
            "my kids love it and so do I",
        ),
        ("Highly recommended!", "Would buy again.", "Five stars.", "Very happy.", "A bargain, really."),
    ),
    "negative": (
        ("Sadly,", "After two days,", "Unfortunately,", "I wanted to like it, but", "For this money,"),
        (
            "the handle broke and the seller never answered",
            "it stopped charging and gets terribly hot",
            "the zipper is cheap and the color is wrong",
            "it is a waste of money, awful quality",
            "the manual is useless and parts were missing",
        ),
        ("Do not buy.", "I returned it.", "Very disappointed.", "Avoid.", "Never again."),
    ),
    "neutral": (
        ("Well,", "So far,", "Mixed feelings:", "It is fine,", "Average:"),
        (
            "it does the job but nothing more",
            "delivery was quick, the product is ordinary",
            "good idea, mediocre execution",
            "some features are handy, others are missing",
            "looks like the picture, feels a bit light",
        ),
        ("Okay for occasional use.", "Time will tell.", "Not sure yet.", "It is what it is."),
    ),
}
GERMAN_REVIEWS: Domain = {
    "gut": (
        ("Nach zwei Wochen:", "Für den Preis", "Ehrlich gesagt", "Ich muss sagen,", "Alles in allem"),
        (
            "ist die Qualität großartig und die Lieferung war schnell",
            "gefällt mir das Gerät sehr, es läuft leise und zuverlässig",
            "bin ich rundum zufrieden mit der Verarbeitung",
            "passt die Größe genau und der Stoff fühlt sich schön an",
        ),
        ("Gerne wieder!", "Klare Empfehlung.", "Für 20 € unschlagbar.", "Daumen hoch."),
    ),
    "schlecht": (
        ("Leider", "Schon nach drei Tagen", "Für 49 €", "Trotz Rückfrage", "Schade,"),
        (
            "ist der Griff abgebrochen und niemand antwortet",
            "fehlten Teile und die Anleitung war unverständlich",
            "riecht das Material stark nach Chemie",
            "ging das Gerät kaputt, die Rücksendung war mühsam",
        ),
        ("Nie wieder.", "Geld zurück verlangt.", "Nicht zu empfehlen.", "Enttäuschend für über 30 €."),
    ),
    "mittel": (
        ("Na ja,", "Insgesamt", "Für Anfänger", "Im Großen und Ganzen", "Bisher"),
        (
            "tut es, was es soll, mehr aber auch nicht",
            "ist es durchschnittlich, weder Fisch noch Fleisch",
            "geht es in Ordnung, könnte aber größer sein",
            "stimmt das Verhältnis von Preis und Leistung gerade so",
        ),
        ("Geht so.", "Drei Sterne.", "Muss jeder selbst wissen.", "Okay."),
    ),
}
FRENCH_REVIEWS: Domain = {
    "satisfait": (
        ("Franchement,", "Après un mois,", "Pour le prix,", "Très bon séjour :", "Nous avons adoré :"),
        (
            "la chambre était propre et le petit déjeuner délicieux",
            "le personnel est aimable et la vue magnifique",
            "tout fonctionne à merveille, même le réseau",
            "l'emplacement est idéal et le lit très confortable",
        ),
        ("À recommander !", "Nous reviendrons.", "Rien à redire.", "Parfait pour une famille."),
    ),
    "déçu": (
        ("Hélas,", "Malheureusement,", "Grande déception :", "À éviter :", "Pour 120 € la nuit,"),
        (
            "la salle de bain était sale et l'eau froide",
            "le bruit de la rue nous a empêchés de dormir",
            "personne à la réception après vingt heures",
            "la climatisation est en panne et le service lent",
        ),
        ("Plus jamais.", "Très déçus.", "Remboursement refusé.", "À fuir."),
    ),
}
SMS: Domain = {
    "ham": (
        ("hey", "ok", "sorry", "mum", "yes", "hi babe", "lol"),
        (
            "are we still meeting at the station tonight",
            "i will call you after class",
            "can you pick up some milk on the way home",
            "i fell asleep on the sofa again",
            "the bus is late, start without me",
        ),
        ("x", "see you", "thanks", "love you", "ok?"),
    ),
    "spam": (
        ("WINNER!!", "FREE entry:", "URGENT!", "Congratulations,", "Final notice:"),
        (
            "you have won a 1000 pound prize, call 09061701461 now",
            "claim your free ringtone by texting WIN to 80086",
            "your mobile number was awarded a holiday voucher",
            "reply YES to get cheap loans approved in minutes",
        ),
        ("T&Cs apply.", "150p per msg.", "Offer ends today.", "Stop? txt STOP."),
    ),
}
NEWS: Domain = {
    "sports": (
        ("Late goal", "Penalty drama", "Veteran striker", "The home team", "Tennis star"),
        (
            "sends the cup final into extra time",
            "ends the winning streak of the champions",
            "secures a place in the playoffs",
            "breaks the league record for assists",
        ),
        ("after a tense second half", "before a sold-out stadium", "despite an early red card"),
    ),
    "business": (
        ("Shares of the carmaker", "The central bank", "A retail chain", "Oil prices", "The startup"),
        (
            "fall after weak quarterly earnings",
            "raises interest rates by a quarter point",
            "announces a merger worth two billion",
            "beats forecasts and lifts its outlook",
        ),
        ("as inflation cools", "while investors stay cautious", "analysts say", "in early trading"),
    ),
    "science": (
        ("Astronomers", "A new vaccine", "Marine biologists", "The telescope", "Researchers"),
        (
            "discover a planet with traces of water vapor",
            "protects mice against several virus strains",
            "map a coral reef the size of a city",
            "measure the faintest galaxy so far",
        ),
        ("in a study published today", "with the help of a neural network", "after ten years of work"),
    ),
}
PAIRS = (
    (
        ("The dog", "Der Hund"),
        ("My sister", "Meine Schwester"),
        ("The old teacher", "Der alte Lehrer"),
        ("Our neighbor", "Unser Nachbar"),
        ("A young doctor", "Eine junge Ärztin"),
        ("The whole family", "Die ganze Familie"),
    ),
    (
        ("is waiting for the train", "wartet auf den Zug"),
        ("bought fresh bread", "hat frisches Brot gekauft"),
        ("sleeps in the garden", "schläft im Garten"),
        ("would like to read the newspaper", "möchte die Zeitung lesen"),
        ("did not understand the question", "hat die Frage nicht verstanden"),
        ("is looking for the keys", "sucht die Schlüssel"),
    ),
    (
        ("today.", "heute."),
        ("because of the rain.", "wegen des Regens."),
        ("with a smile on the face.", "mit einem Lächeln im Gesicht."),
        ("every morning before work.", "jeden Morgen vor der Arbeit."),
        ("at the market in the town.", "auf dem Markt in der Stadt."),
        ("again and again.", "immer wieder."),
    ),
)
"""English and German, part by part in the same order."""


def draw(domain: Domain, count: int, *, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Texts with their classes, all different: a number of an order, a model or a day keeps them apart."""
    random = Random(seed)
    classes = list(domain)
    for number in range(count):
        name = classes[random.randrange(len(classes))]
        opening, middle, end = (random.choice(part) for part in domain[name])
        detail = random.choice(("Order", "Ref.", "No.", "Day"))
        yield f"{opening} {middle} {end} {detail} {1000 + number}", name


def sentence_pairs(count: int, *, seed: int = 0) -> Iterator[tuple[str, str]]:
    """English sentences with their German translations, in random order, none twice in a row of 216."""
    random = Random(seed)
    pairs = [
        (f"{a[0]} {b[0]} {c[0]}", f"{a[1]} {b[1]} {c[1]}")
        for a in PAIRS[0]
        for b in PAIRS[1]
        for c in PAIRS[2]
    ]
    random.shuffle(pairs)
    for number in range(count):
        yield pairs[number % len(pairs)]
