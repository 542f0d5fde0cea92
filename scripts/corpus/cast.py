"""Who and what appears in a text: names, things and places, and beings with their pronouns."""

from __future__ import annotations

from dataclasses import dataclass

from scripts.corpus import facts
from scripts.corpus.facts.parse import words

GIRLS = words(
    """Lily, Mia, Anna, Emma, Sara, Zoe, Ella, Rosa, Nina, Lucy, Ruby, Maya, Alice, Clara, Daisy, Eva, Grace, Hana,
    Ivy, Jane, Kate, Leila, Molly, Nora, Penny, Sofia, Tess, Wendy, Yuki, Amina, Mary, Sue, Amy, Bella, Julia"""
)
BOYS = words(
    """Tom, Ben, Max, Sam, Leo, Jack, Tim, Omar, Noah, Finn, Adam, Carlos, Dan, Eli, Felix, George, Henry, Ivan, Jake,
    Kenji, Liam, Luis, Mark, Nick, Oscar, Paul, Peter, Ravi, Simon, Theo, Will, John, David, Harry, Bob"""
)
PET_NAMES = words(
    """Rex, Spot, Biscuit, Whiskers, Mittens, Luna, Shadow, Clover, Thumper, Kiwi, Nibbles, Star, Puddle, Ginger,
    Bubbles, Patch, Pepper, Cookie, Lucky, Snowy, Fluffy, Buddy, Honey, Rusty, Toto"""
)
PETS = words("dog, cat, rabbit, puppy, kitten, pony, hamster, bird, turtle, duck, mouse, parrot")
PET_ADJECTIVES = words("little, big, brown, white, black, funny, lazy, clever, fluffy, gentle, old, small, happy")
WILD = [a for a in facts.ANIMALS if a not in {"bee", "hen", "cow", "pig", "turkey", "donkey", "rooster"}]
WILD_ADJECTIVES = words("little, big, old, hungry, friendly, sad, lonely, kind, funny, young, lost, tiny, clever")
GROWN_UPS = [
    ("mother", "she"), ("father", "he"), ("mom", "she"), ("dad", "he"), ("grandmother", "she"),
    ("grandfather", "he"), ("grandma", "she"), ("grandpa", "he"), ("aunt", "she"), ("uncle", "he"),
]  # fmt: skip
OBJECT_NOUNS = words(
    """ball, book, kite, doll, boat, car, drum, hat, cup, box, bike, bell, key, ring, scarf, train, teddy bear, flute,
    lamp, basket, rope, coat, mirror, toy, robot, puzzle, pencil, bag, stone, shell, coin, flower, whistle, top"""
)
OBJECT_ADJECTIVES = words(
    "red, blue, green, yellow, new, old, little, big, shiny, golden, wooden, small, soft, round, beautiful, magic"
)
FOODS = words(
    """bread, cheese, apples, cookies, cake, soup, rice, honey, nuts, berries, pancakes, sandwiches, grapes, pears,
    bananas, carrots, ice cream, noodles, jam, popcorn, cherries, chocolate, tomatoes, plums"""
)
PLACES = words(
    """the park, the forest, the garden, the beach, the lake, the river, the library, the school, the market, the farm,
    the playground, the store, the hill, the bridge, the museum, the station, the meadow, the mountain, the castle,
    the kitchen, the zoo, the bakery, the pond, the village, the city, the shop, the field, the barn"""
)
ROOMS = words(
    "kitchen, garden, bedroom, bathroom, hallway, office, park, school, cinema, library, attic, cellar, barn, shop"
)
CONTAINERS = words("box, bag, suitcase, basket, drawer, cupboard, chest, jar, backpack, trunk")
STUFF = words("trophy, ball, book, toy, doll, hat, apple, lamp, vase, shoe, drum, teddy bear, boat, kite, cup")
SYLLABLES = words(
    """ba, be, bo, bi, da, do, du, fa, fi, fo, ga, gi, go, ka, ki, ko, la, le, li, lo, lu, ma, me, mi, mo, mu, na, ni,
    no, pa, pe, pi, po, ra, ri, ro, ru, sa, so, su, ta, ti, to, va, vi, vo, wa, wi, za, zi, zo, blip, glim, quin, zor,
    drum, fen, grim, hob, jin, kel, lum, mor, nim, pix, rom, sil, tam, ulf, wex, yor, zub"""
)

PRONOUNS = {
    "she": {"he": "she", "him": "her", "his": "her", "self": "herself", "child": "girl"},
    "he": {"he": "he", "him": "him", "his": "his", "self": "himself", "child": "boy"},
}


@dataclass(frozen=True)
class Being:
    """Somebody in a story, with the pronouns that go with the name."""

    name: str
    gender: str  # "she" or "he"
    kind: str = ""
    adj: str = ""

    def get(self, attribute: str) -> str:
        """What ``<A.attribute>`` stands for in a template: ``kind``, ``adj`` or a key of ``PRONOUNS``."""
        described = {"kind": self.kind, "adj": self.adj}
        return described[attribute] if attribute in described else PRONOUNS[self.gender][attribute]


Cast = dict[str, Being | str]  # the letter of a template to who or what it stands for
