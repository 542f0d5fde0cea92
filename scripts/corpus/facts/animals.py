"""What animals say, eat and are called when they are young, and the colour of things."""

from __future__ import annotations

from scripts.corpus.facts.parse import pairs

COLOUR_FACTS = pairs(
    """the sky:blue;grass:green;snow:white;a banana:yellow;blood:red;coal:black;a carrot:orange;a lemon:yellow;
    chocolate:brown;the sun:yellow;a leaf:green;milk:white;a strawberry:red;a tomato:red;a pumpkin:orange;
    the night:black;a frog:green;a flamingo:pink;a pig:pink;a polar bear:white;a cloud:white;the sea:blue;
    a fire truck:red;a crow:black;a grape:purple;an elephant:gray;a mouse:gray;a cucumber:green;an egg:white;
    a cherry:red;a bear:brown;gold:yellow"""
)

# animal: (verb of its sound, sound, baby, home, food, adjective, legs)
ANIMALS: dict[str, tuple[str, str, str, str, str, str, int]] = {
    "dog": ("barks", "woof", "puppy", "kennel", "bones", "loyal", 4),
    "cat": ("meows", "meow", "kitten", "basket", "fish", "soft", 4),
    "cow": ("moos", "moo", "calf", "barn", "grass", "gentle", 4),
    "sheep": ("bleats", "baa", "lamb", "meadow", "grass", "woolly", 4),
    "pig": ("oinks", "oink", "piglet", "sty", "apples", "clever", 4),
    "horse": ("neighs", "neigh", "foal", "stable", "hay", "strong", 4),
    "duck": ("quacks", "quack", "duckling", "pond", "bread", "noisy", 2),
    "hen": ("clucks", "cluck", "chick", "coop", "seeds", "busy", 2),
    "lion": ("roars", "roar", "cub", "den", "meat", "brave", 4),
    "tiger": ("growls", "growl", "cub", "jungle", "meat", "striped", 4),
    "bear": ("growls", "growl", "cub", "cave", "honey", "big", 4),
    "wolf": ("howls", "howl", "pup", "den", "meat", "hungry", 4),
    "frog": ("croaks", "croak", "tadpole", "pond", "flies", "green", 4),
    "bee": ("buzzes", "buzz", "larva", "hive", "nectar", "busy", 6),
    "snake": ("hisses", "hiss", "hatchling", "hole", "mice", "long", 0),
    "mouse": ("squeaks", "squeak", "pup", "hole", "cheese", "tiny", 4),
    "owl": ("hoots", "hoot", "owlet", "tree", "mice", "wise", 2),
    "goat": ("bleats", "maa", "kid", "farm", "leaves", "naughty", 4),
    "rabbit": ("squeaks", "squeak", "kit", "burrow", "carrots", "quick", 4),
    "bird": ("sings", "tweet", "chick", "nest", "worms", "little", 2),
    "crow": ("caws", "caw", "chick", "nest", "corn", "black", 2),
    "rooster": ("crows", "cock-a-doodle-doo", "chick", "coop", "corn", "proud", 2),
    "elephant": ("trumpets", "toot", "calf", "savanna", "leaves", "huge", 4),
    "monkey": ("chatters", "ooh-ooh", "baby monkey", "tree", "bananas", "funny", 4),
    "donkey": ("brays", "hee-haw", "foal", "stable", "hay", "stubborn", 4),
    "fox": ("barks", "yip", "cub", "den", "berries", "sly", 4),
    "turkey": ("gobbles", "gobble", "chick", "farm", "seeds", "fat", 2),
    "goose": ("honks", "honk", "gosling", "pond", "grass", "white", 2),
    "deer": ("grunts", "grunt", "fawn", "forest", "leaves", "shy", 4),
    "squirrel": ("chatters", "chit-chit", "kit", "tree", "nuts", "fast", 4),
}
