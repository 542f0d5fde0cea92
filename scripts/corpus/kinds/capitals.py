"""Countries, their capitals, languages and landmarks, in many wordings."""

from __future__ import annotations

from scripts.corpus import facts
from scripts.corpus.templates import tidy
from scripts.corpus.writer import Writer


def capital_sentence(writer: Writer) -> str:
    """One country and its capital, in one of many wordings."""
    rng = writer.rng
    country, capital, continent = writer.country()
    short = country.removeprefix("the ")
    name = writer.child(set())
    wordings = [
        f"The capital of {country} is {capital}.",
        f"The capital of {country} is {capital}.",
        f"The capital of {country} is {capital}.",
        f"The capital of {country} is {capital}, and {country} is in {continent}.",
        f"{capital} is the capital of {country}.",
        f"{capital} is the capital city of {country}.",
        f"The capital city of {country} is called {capital}.",
        f"What is the capital of {country}? {capital}.",
        f"What is the capital of {country}? The capital of {country} is {capital}.",
        f"What is the capital of {country}? It is {capital}.",
        f"Question: What is the capital of {country}?\nAnswer: {capital}",
        f"Q: What is the capital of {country}?\nA: {capital}",
        f"Country: {short}. Capital: {capital}.",
        f"{capital} is a city in {country}. It is the capital of {country}.",
        f"{capital} is in {country}. {country} is a country in {continent}.",
        f"{country} is a country in {continent}. Its capital is {capital}.",
        f"{country} is in {continent}, and its capital is {capital}.",
        f"If you go to {country}, you can visit {capital}, the capital of {country}.",
        f"{name.name} lives in {capital}, the capital of {country}.",
        f"{name.name} went to {country} and visited {capital}.",
        f'"What is the capital of {country}?" asked {name.name}. "The capital of {country} is {capital}," said the teacher.',
        f"The people of {country} are proud of {capital}, their capital.",
    ]
    return tidy(rng.choice(wordings))


def capitals(writer: Writer) -> str:
    """Several countries with their capitals, as sentences or as a table, with languages and landmarks."""
    rng = writer.rng
    style = rng.random()
    if style < 0.75:
        return writer.lines([capital_sentence(writer) for _ in range(rng.randint(2, 8))])
    rows = {writer.country()[:2] for _ in range(rng.randint(4, 9))}
    if style < 0.9:
        mark = rng.choice([": ", " - ", " -> ", ", "])
        return "\n".join(country.removeprefix("the ") + mark + capital for country, capital in sorted(rows))
    items = []
    for _ in range(rng.randint(2, 5)):
        kind = rng.randint(0, 4)
        if kind == 0:
            country, language = rng.choice(facts.LANGUAGES)
            items.append(
                rng.choice(
                    [
                        f"In {country}, people speak {language}.",
                        f"The people in {country} speak {language}.",
                        f"{language} is spoken in {country}.",
                    ]
                )
            )
        elif kind == 1:
            thing, city = rng.choice(facts.LANDMARKS)
            items.append(
                rng.choice(
                    [
                        f"{thing} is in {city}.",
                        f"You can see {thing} in {city}.",
                        f"Where is {thing}? {thing} is in {city}.",
                    ]
                )
            )
        else:
            items.append(capital_sentence(writer))
    return writer.lines([tidy(i) for i in items])
