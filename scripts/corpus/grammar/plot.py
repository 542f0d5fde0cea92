"""How a story opens, goes on and ends.

Notation: ``[a|b|c]`` picks one alternative (may be nested), ``<A>`` is the name of the hero, ``<A.he>``,
``<A.him>``, ``<A.his>`` and ``<A.self>`` are the hero's pronouns.  The same works for B (a friend), C (another
friend), M (a grown-up), P (a pet) and W (a wild animal).  ``<O>`` is an object, ``<F>`` and ``<G>`` are foods, ``<L>`` a place,
``<K>`` a colour, ``<X>`` an invented word.  A line break separates paragraphs.
"""

from __future__ import annotations

OPENINGS: list[str] = [
    "Once upon a time, there was a [little|young|kind|small|clever|curious] <A.child> named <A>.",
    "Once upon a time, there was a [little|young|kind|small|clever|curious] <A.child> named <A>. <A.he> lived [in|near] <L> with <A.his> <M>.",
    "Once upon a time, in a [small|quiet|pretty|far away] [town|village|city], there lived a <A.child> named <A>.",
    "Once upon a time, a [little|brave|happy] <A.child> called <A> lived in a [small|red|white|cozy] house [by the sea|near the forest|on a hill|at the end of the road].",
    "Once there was a <A.child> named <A> who [loved|liked] to [read|draw|sing|run|dance|climb trees|play outside].",
    "One day, <A> and <B> [went|walked|ran] to <L>.",
    "One [sunny|rainy|cold|windy|warm|bright] [day|morning|afternoon], <A> [went|walked|was] to <L> with <A.his> <M>.",
    "One [morning|day], <A> woke up [early|late]. <A.he> [looked out of the window|jumped out of bed|put on <A.his> shoes] and [smiled|laughed|went downstairs].",
    "<A> and <B> were [best|good|old] friends. They [played|walked to school|ate lunch|laughed] together every day.",
    "<A> had a <P.adj> <P.kind> named <P>. <A> loved <P> very much, and <P> loved <A> too.",
    "There was once a <A.child> named <A> and a <B.child> named <B>. <A> was [tall|brave|quiet|funny], but <B> was [short|shy|loud|serious].",
    "It was a [beautiful|cold|hot|rainy|snowy|windy] day. <A> was [playing|sitting|reading|waiting] in <L>.",
    "Long ago, in a land far away, there was a [king|queen|farmer|fisherman] who had a [son|daughter] named <A>.",
    "It was <A>'s birthday. <A.he> was [five|six|seven|eight|nine] years old, and <A.he> was very [happy|excited].",
    "Every [morning|evening|Saturday|Sunday], <A> [went|walked] to <L> with <A.his> <P.kind>, <P>.",
    "<A> was [five|six|seven|eight|nine] years old. <A.he> lived with <A.his> <M> and a <P.adj> <P.kind> named <P>.",
    "My name is <A>. I have a friend named <B>. <B> is [kind|funny|smart|brave], and <B.he> always makes me laugh.",
]

TRAITS: list[str] = [
    "<A> loved <A.his> <O> more than anything.",
    "<A.he> had a <P.adj> <P.kind> named <P>.",
    "<A.his> favorite color was <K>. <A.he> had a <K> hat, a <K> coat and <K> shoes.",
    "<A.he> liked to eat <F>.",
    "<A>'s best friend was <B>. <B> lived next door.",
    "Everyone in the [town|village] knew <A>, because <A.he> was so [kind|funny|brave|helpful].",
    "<A.he> had [brown|blue|green|dark] eyes and [long|short|curly|red|black] hair.",
    "<A> wanted to be a [doctor|teacher|sailor|pilot|baker|painter|singer] when <A.he> grew up.",
    "<A.his> <M> told <A.him> stories every night.",
    "<A> was never [bored|sad|in a hurry], because there was always something to do.",
]

ENDINGS: list[str] = [
    "And they lived happily ever after.",
    "From that day on, <A> and <B> were best friends.",
    "When <A> came home, <A.he> told <A.his> <M> all about it.",
    "It was a very good day.",
    "In the evening, <A> was tired but happy. <A.he> went to bed and fell asleep.",
    "<A> smiled. It was the best day of <A.his> life.",
    "And <A> never forgot what <A.he> had learned: [it is good to share|always tell the truth|never give up|friends help each other|be kind to everyone|slow and steady wins the race].",
    "The moral of the story is: [be kind to others|always tell the truth|never give up|a good friend is worth more than gold|think before you act].",
    '"Good night, <A>," said <A.his> <M>. "Good night," said <A>.',
    '"Can we do it again tomorrow?" asked <A>. "Yes," said <B>, "we can."',
    "After that, <A> and <B> went home. The sun went down, and the stars came out.",
    "The end.",
    "<A> laughed, and <B> laughed, too.",
    "And so <A> went home with <P>, and they were both very happy.",
    "That night, <A> thought about <B> and smiled.",
]

LINKS: list[str] = [
    "The next day, something happened.",
    "[Later|After lunch|The next morning|A week later|In the evening|Some time later|The next day], there was another surprise.",
    "But that was not all.",
    "Then something new happened.",
    "[Later that day|Soon after|A few days later], <A> was with <B> again.",
    "",
    "",
]
