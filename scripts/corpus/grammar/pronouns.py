"""Sentences where a pronoun or a name has to be resolved, in the notation that plot.py explains."""

from __future__ import annotations

CHASERS = [
    ("dog", "squirrel"), ("cat", "mouse"), ("fox", "rabbit"), ("wolf", "sheep"), ("lion", "deer"), ("bear", "fish"),
    ("owl", "mouse"), ("dog", "cat"), ("snake", "frog"), ("cat", "bird"), ("tiger", "goat"), ("dog", "rabbit"),
    ("fox", "hen"), ("puppy", "kitten"), ("boy", "dog"), ("girl", "butterfly"), ("crow", "owl"), ("eagle", "duck"),
]  # fmt: skip
CHASE_TEMPLATES: list[str] = [
    "The <1> chased the <2> because it was [hungry|fast|angry|bored|playful]. The <1> was [very hungry|a good runner|full of energy].",
    "The <1> chased the <2> because it was hungry.",
    "The <1> chased the <2> because it was hungry. The <1> wanted to eat. But the <2> was too fast.",
    "The <1> chased the <2> because it wanted to play.",
    "The <1> chased the <2> because the <2> had taken its [food|bone|ball|dinner].",
    "The <2> ran away because it was scared. The <2> was afraid of the <1>.",
    "The <2> ran away from the <1> because it was [scared|afraid|frightened].",
    "The <1> could not catch the <2> because it was too [fast|quick|small|clever]. The <2> was faster than the <1>.",
    "The <1> stopped because it was tired. The <1> could not run any more.",
    "The <1> did not cross the street because it was too [tired|scared|sleepy]. The <1> wanted to rest.",
    "The <1> did not cross the street because it was too [wide|busy|wet]. The street was too dangerous for the <1>.",
    "The <2> hid in a hole because it was small. The <1> could not go in because it was too big.",
    "The <1> saw the <2>. It ran after the <2>, and the <2> ran away.",
    "The <1> is bigger than the <2>. The <2> is smaller than the <1>.",
    "The <1> and the <2> were friends. The <1> liked the <2>, and the <2> liked the <1>.",
    "Why did the <1> chase the <2>? The <1> chased the <2> because it was hungry.",
    "Why did the <2> run away? The <2> ran away because it was scared of the <1>.",
    "First the <1> chased the <2>. Then the <2> chased the <1>. It was only a game.",
]

FIT_TEMPLATES: list[str] = [
    "The <s> did not fit in the <c> because it was too big. The <s> was too big.",
    "The <s> did not fit in the <c> because it was too small. The <c> was too small.",
    "<A> put the <s> in the <c>. Then <A.he> closed the <c>. The <s> was inside the <c>.",
    "The <s> is in the <c>. Where is the <s>? It is in the <c>.",
    "<A> took the <s> out of the <c> because <A.he> needed it.",
    "The <c> was empty, so <A> put a <s> in it. Now there was a <s> in the <c>.",
]

GIVE_TEMPLATES: list[str] = [
    "When <A> and <B> went to <L>, <A> gave [a|the] <O> to <B>.",
    "When <A> and <B> went to <L>, <B> gave [a|the] <O> to <A>.",
    "Then, <A> and <B> went to <L>. <B> gave [a|the] <O> to <A>.",
    "After <A> and <B> went to <L>, <A> gave [a|the] <O> to <B>.",
    "<A> and <B> were at <L>. <A> had a <O>. <A> gave the <O> to <B>. Now <B> had the <O>.",
    "<A> gave the <O> to <B>. <B> gave the <O> to <A>.",
    "<A> gave the <O> to <B>. <B> gave the <O> back to <A>.",
    "<A> gave the <O> to <B>. <B> gave the <O> to <C>. <C> gave the <O> to <A>.",
    "<A> gave the <O> to <B>, and <B> said thank you to <A>.",
    "<B> was happy because <A> gave <B.him> a <O>. <B> thanked <A>.",
    "<A> asked <B> for the <O>. <B> gave the <O> to <A>.",
    "<A> asked <B> for help because <A.he> could not lift the <O>. <B> helped <A>.",
    "<A> has a <O>. <B> has a <K> hat. Who has the <O>? <A> has the <O>. Who has the <K> hat? <B> has the <K> hat.",
    "<A> told <B> that <A.he> was tired. So <A> went home, and <B> went home, too.",
    '<A> saw <B> at <L>. <A> said, "Hello, <B>!" <B> said, "Hello, <A>!"',
    "<A> called <B>, but <B> did not answer because <B.he> was asleep.",
    "<A> thanked <B> because <B.he> had helped <A.him>.",
    "<A> likes <F>, but <B> likes <G>. So <A> eats <F>, and <B> eats <G>.",
    "<A> lost the game, and <B> won the game. <B> was happy. <A> was sad.",
    "<A> is older than <B>. <B> is younger than <A>.",
    "<A> and <B> are [friends|neighbors|cousins]. <A> lives near <L>. <B> lives near <A>.",
    "The teacher gave <A> a <O>. <A> thanked the teacher. The teacher smiled at <A>.",
]
