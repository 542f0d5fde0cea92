"""Which things are of a kind; the ordered kinds (days, months) are in their order."""

from __future__ import annotations

from scripts.corpus.facts.parse import words

CATEGORIES: dict[str, list[str]] = {
    "animal": words(
        """dog, cat, cow, sheep, pig, horse, lion, tiger, bear, wolf, frog, snake, mouse, goat, rabbit, elephant,
        monkey, donkey, fox, deer, squirrel, giraffe, zebra, camel, kangaroo, whale, dolphin, turtle, crocodile"""
    ),
    "bird": words("duck, hen, owl, crow, eagle, swan, parrot, penguin, goose, robin, sparrow, pigeon, ostrich"),
    "fish": words("salmon, shark, tuna, goldfish, trout, cod"),
    "insect": words("ant, bee, butterfly, beetle, fly, mosquito, ladybug, grasshopper, moth"),
    "fruit": words(
        """apple, banana, orange, pear, grape, lemon, peach, plum, cherry, strawberry, mango, pineapple, melon, kiwi,
        fig"""
    ),
    "vegetable": words(
        """carrot, potato, onion, cabbage, pea, bean, cucumber, lettuce, pumpkin, radish, beet, leek, turnip"""
    ),
    "color": words("red, blue, green, yellow, purple, pink, brown"),
    "tool": words("hammer, saw, drill, shovel, rake, wrench, screwdriver, axe"),
    "piece of furniture": words("chair, table, bed, sofa, desk, shelf, wardrobe, stool"),
    "piece of clothing": words("shirt, hat, coat, sock, dress, scarf, sweater, skirt, jacket"),
    "musical instrument": words("piano, violin, guitar, drum, flute, trumpet, harp, cello"),
    "flower": words("rose, tulip, daisy, lily, sunflower, violet"),
    "tree": words("oak, pine, birch, maple, willow, palm"),
    "metal": words("gold, silver, iron, copper, tin"),
    "vehicle": words("car, bus, truck, train, bicycle, boat, tractor, taxi, motorcycle"),
    "planet": words("Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus, Neptune"),
    "sport": words("football, tennis, basketball, swimming, hockey, running"),
    "drink": words("milk, water, tea, juice, lemonade, coffee"),
    "country": words("France, Japan, Brazil, Egypt, Canada, India, Italy, Kenya, Spain, China, Mexico, Poland"),
    "city": words("Paris, London, Tokyo, Rome, Berlin, Madrid, Moscow, Cairo, New York, Vienna, Sydney, Athens"),
    "day of the week": words("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday"),
    "month": words("January, February, March, April, May, June, July, August, September, October, November, December"),
    "season": words("spring, summer, autumn, winter"),
    "shape": words("circle, square, triangle, rectangle, star"),
    "language": words("English, French, Spanish, German, Italian, Chinese, Japanese, Arabic, Russian, Greek"),
}
MASS_NOUNS: set[str] = set(
    words(
        """gold, silver, iron, copper, tin, football, tennis, basketball, swimming, hockey, running, milk, water, tea,
        juice, lemonade, coffee, red, blue, green, yellow, purple, pink, brown, spring, summer, autumn, winter"""
    )
)

DAYS = CATEGORIES["day of the week"]
MONTHS = CATEGORIES["month"]
SEASONS = CATEGORIES["season"]
PLANETS = CATEGORIES["planet"]
