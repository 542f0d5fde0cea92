"""General knowledge in single sentences, public-domain nursery rhymes and well-known titles."""

from __future__ import annotations

GENERAL_FACTS = [
    s.strip()
    for s in """
The sun rises in the east and sets in the west.
The Earth goes around the Sun.
The Moon goes around the Earth.
A year has twelve months.
A week has seven days.
A day has twenty-four hours.
An hour has sixty minutes.
A minute has sixty seconds.
A year has three hundred and sixty-five days.
There are four seasons in a year: spring, summer, autumn and winter.
Water is made of hydrogen and oxygen.
Water freezes at zero degrees and boils at one hundred degrees.
Ice is frozen water.
Ice is cold and fire is hot.
Sugar is sweet and lemons are sour.
Bees make honey.
Cows give milk.
Hens lay eggs.
Sheep give us wool.
Birds have feathers and fish have scales.
Birds can fly and fish can swim.
Spiders have eight legs and insects have six legs.
A triangle has three sides and a square has four sides.
A hand has five fingers.
We see with our eyes and hear with our ears.
We smell with our nose and taste with our tongue.
Plants need water, air and sunlight to grow.
Trees have roots, branches and leaves.
In autumn the leaves fall from the trees.
In winter it is cold and it snows.
In summer it is hot and the days are long.
In spring the flowers bloom.
The heart pumps blood around the body.
Bread is made from flour.
Cheese is made from milk.
Paper is made from wood.
Butter is made from milk.
Wine is made from grapes.
Glass is made from sand.
The largest ocean is the Pacific Ocean.
The largest animal in the world is the blue whale.
The tallest animal in the world is the giraffe.
The fastest land animal is the cheetah.
The highest mountain in the world is Mount Everest.
The longest river in Africa is the Nile.
The largest planet is Jupiter.
The planet closest to the Sun is Mercury.
The red planet is Mars.
Saturn is famous for its rings.
The Earth has one moon.
The lion is called the king of the animals.
A caterpillar turns into a butterfly.
A tadpole turns into a frog.
Penguins are birds that cannot fly.
Camels can live for many days without water.
Bats sleep during the day and fly at night.
Bears sleep through the winter.
Whales are not fish, because they breathe air.
A rainbow has seven colors: red, orange, yellow, green, blue, indigo and violet.
Red and yellow make orange.
Blue and yellow make green.
Red and blue make purple.
Black and white make gray.
The first person to walk on the Moon was Neil Armstrong.
Albert Einstein was a famous scientist.
Isaac Newton saw an apple fall from a tree.
William Shakespeare wrote Romeo and Juliet.
William Shakespeare was a famous English writer.
Leonardo da Vinci painted the Mona Lisa.
Wolfgang Amadeus Mozart wrote beautiful music.
Christopher Columbus sailed across the Atlantic Ocean.
George Washington was the first president of the United States.
Marie Curie was a famous scientist.
Charles Darwin studied plants and animals.
The Amazon is a long river in South America.
The Sahara is a big desert in Africa.
The North Pole is very cold.
Rome was not built in a day.
An apple a day keeps the doctor away.
The early bird catches the worm.
All that glitters is not gold.
A friend in need is a friend indeed.
Practice makes perfect.
Better late than never.
Actions speak louder than words.
The quick brown fox jumps over the lazy dog.
The cat sat on the mat.
The more you read, the more you know.
To be, or not to be, that is the question.
""".strip().splitlines()
]

RHYMES = [
    s.strip()
    for s in """
Twinkle, twinkle, little star, how I wonder what you are. Up above the world so high, like a diamond in the sky. Twinkle, twinkle, little star, how I wonder what you are.
Mary had a little lamb, its fleece was white as snow, and everywhere that Mary went, the lamb was sure to go.
Humpty Dumpty sat on a wall. Humpty Dumpty had a great fall. All the king's horses and all the king's men couldn't put Humpty together again.
Jack and Jill went up the hill to fetch a pail of water. Jack fell down and broke his crown, and Jill came tumbling after.
Row, row, row your boat, gently down the stream. Merrily, merrily, merrily, merrily, life is but a dream.
Baa, baa, black sheep, have you any wool? Yes sir, yes sir, three bags full.
Hickory, dickory, dock, the mouse ran up the clock. The clock struck one, the mouse ran down, hickory, dickory, dock.
One, two, buckle my shoe. Three, four, knock at the door. Five, six, pick up sticks. Seven, eight, lay them straight. Nine, ten, a big fat hen.
Rain, rain, go away, come again another day. Little children want to play. Rain, rain, go away.
Little Miss Muffet sat on a tuffet, eating her curds and whey. Along came a spider, who sat down beside her, and frightened Miss Muffet away.
London Bridge is falling down, falling down, falling down. London Bridge is falling down, my fair lady.
Hey diddle diddle, the cat and the fiddle, the cow jumped over the moon. The little dog laughed to see such fun, and the dish ran away with the spoon.
Roses are red, violets are blue, sugar is sweet, and so are you.
""".strip().splitlines()
]

# title, what kind of thing it is, a simple description
WORKS = [
    ("The Shawshank Redemption", "movie", "friendship and hope"),
    ("Star Wars", "movie", "a war among the stars"),
    ("The Lion King", "movie", "a young lion who becomes king"),
    ("Toy Story", "movie", "toys that come to life"),
    ("Finding Nemo", "movie", "a little fish who is lost in the sea"),
    ("The Wizard of Oz", "book", "a girl named Dorothy and her dog Toto"),
    ("Harry Potter and the Philosopher's Stone", "book", "a boy who learns magic"),
    ("Harry Potter", "book", "a young wizard who goes to a school of magic"),
    ("The Lord of the Rings", "book", "a ring of power and a long journey"),
    ("The Little Prince", "book", "a boy from a tiny planet"),
    ("Alice's Adventures in Wonderland", "book", "a girl who falls down a rabbit hole"),
    ("Peter Pan", "book", "a boy who never grows up"),
    ("The Jungle Book", "book", "a boy who lives with wolves"),
    ("Romeo and Juliet", "play", "two young people in love"),
    ("Robinson Crusoe", "book", "a man alone on an island"),
    ("Treasure Island", "book", "pirates and hidden gold"),
    ("Black Beauty", "book", "the life of a horse"),
    ("The Secret Garden", "book", "a garden behind a locked door"),
    ("Pinocchio", "book", "a wooden puppet who wants to be a real boy"),
    ("Little Red Riding Hood", "fairy tale", "a girl who meets a wolf in the forest"),
    ("Cinderella", "fairy tale", "a girl who loses a glass slipper"),
    ("Snow White", "fairy tale", "a princess and seven dwarfs"),
    ("Sleeping Beauty", "fairy tale", "a princess who sleeps for a hundred years"),
    ("Hansel and Gretel", "fairy tale", "two children and a house of sweets"),
]
