"""What people do, where they do it, and what they need for it."""

from __future__ import annotations

from scripts.corpus.facts.parse import pairs

JOBS = [
    ("doctor", "hospital", "helps sick people"),
    ("teacher", "school", "teaches children"),
    ("farmer", "farm", "grows food"),
    ("baker", "bakery", "bakes bread"),
    ("cook", "kitchen", "makes meals"),
    ("pilot", "airport", "flies planes"),
    ("firefighter", "fire station", "puts out fires"),
    ("nurse", "hospital", "takes care of sick people"),
    ("librarian", "library", "looks after books"),
    ("sailor", "ship", "sails across the sea"),
    ("gardener", "garden", "plants flowers"),
    ("king", "castle", "rules the land"),
    ("mechanic", "garage", "fixes cars"),
    ("judge", "court", "decides what is fair"),
    ("tailor", "shop", "sews clothes"),
    ("miner", "mine", "digs for coal"),
    ("actor", "theater", "plays many parts"),
    ("scientist", "laboratory", "makes discoveries"),
    ("waiter", "restaurant", "brings the food"),
    ("shepherd", "hill", "watches the sheep"),
]

USES = pairs(
    """cut bread:a knife;write a letter:a pen;draw a picture:a pencil;eat soup:a spoon;brush your teeth:a toothbrush;
    sweep the floor:a broom;open a door:a key;tell the time:a clock;dig a hole:a shovel;hit a nail:a hammer;
    stay dry in the rain:an umbrella;see far away stars:a telescope;cook soup:a pot;dry your hands:a towel;
    comb your hair:a comb;wash your hands:soap;sleep:a bed;catch a fish:a net;cross a river:a bridge;
    climb to the roof:a ladder;cut paper:scissors;drink tea:a cup;carry books:a bag;light a dark room:a lamp;
    keep food cold:a fridge;sew a button:a needle;make a phone call:a phone;take a picture:a camera"""
)
