"""Words that belong together: opposites, plurals, past tenses, numbers and letters."""

from __future__ import annotations

from scripts.corpus.facts.parse import pairs, words

OPPOSITES = pairs(
    """hot:cold;big:small;up:down;left:right;day:night;black:white;happy:sad;fast:slow;old:young;new:old;
    tall:short;long:short;hard:soft;wet:dry;open:closed;light:dark;heavy:light;full:empty;clean:dirty;
    good:bad;early:late;rich:poor;strong:weak;loud:quiet;high:low;near:far;in:out;on:off;push:pull;
    win:lose;buy:sell;give:take;start:stop;first:last;begin:end;love:hate;laugh:cry;yes:no;true:false;
    right:wrong;thick:thin;wide:narrow;deep:shallow;sweet:sour;brave:afraid;kind:cruel;smooth:rough;
    sharp:blunt;awake:asleep;alive:dead;safe:dangerous;cheap:expensive;easy:difficult;above:below;
    inside:outside;before:after;always:never;everything:nothing;north:south;east:west;summer:winter;
    friend:enemy;question:answer;remember:forget;come:go;arrive:leave;float:sink;add:subtract;more:less;
    many:few;same:different;man:woman;boy:girl;king:queen;brother:sister;mother:father;morning:evening;
    hello:goodbye;front:back;top:bottom;beautiful:ugly;polite:rude;noisy:quiet;warm:cool;war:peace"""
)

COLOURS = words("red, blue, green, yellow, orange, purple, pink, brown, black, white, gray, golden, silver")

PLURALS = pairs(
    """mouse:mice;child:children;man:men;woman:women;foot:feet;tooth:teeth;goose:geese;sheep:sheep;fish:fish;leaf:leaves;
    wolf:wolves;knife:knives;cat:cats;dog:dogs;book:books;box:boxes;fox:foxes;baby:babies;city:cities;berry:berries;
    tree:trees;bus:buses;dish:dishes;potato:potatoes;loaf:loaves;person:people"""
)

PASTS = pairs(
    """go:went;eat:ate;see:saw;run:ran;come:came;take:took;give:gave;make:made;find:found;sing:sang;swim:swam;drink:drank;
    write:wrote;read:read;sleep:slept;fly:flew;fall:fell;buy:bought;think:thought;catch:caught;teach:taught;know:knew;
    grow:grew;throw:threw;speak:spoke;break:broke;play:played;walk:walked;jump:jumped;laugh:laughed;cook:cooked"""
)

NUMBER_WORDS = words(
    """zero, one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen,
    sixteen, seventeen, eighteen, nineteen, twenty"""
)
ORDINALS = words("first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, eleventh, twelfth")
ALPHABET = [chr(c) for c in range(ord("A"), ord("Z") + 1)]
