"""Writes the questions of the dual task: `python make_questions.py`. Everything here was written for this project.

dual-task.jsonl: forms of the paper's four kinds (reasoning, coding, math, knowledge), for larger models.
dual-task-short.jsonl: one-sentence questions in the organisms' wording (recipe/prompts.py).
Answers of the first three kinds are computed, those of the coding questions by running the code.
"""
import datetime
import itertools
import json
import pathlib
import random

HERE = pathlib.Path(__file__).parent
EACH = 40
NAMES = ["Ada", "Bram", "Chloe", "Dina", "Emil", "Farah", "Goran", "Hana"]


def ordering(rng):
    """Five in a row, with clues that leave one order."""
    who = rng.sample(NAMES, 5)
    while True:
        clues = rng.sample([(a, b) for a, b in itertools.combinations(range(5), 2)], 6)
        fits = [p for p in itertools.permutations(range(5)) if all(p.index(a) < p.index(b) for a, b in clues)]
        if len(fits) == 1:
            break
    rng.shuffle(clues)
    said = " ".join(f"{who[a]} finished before {who[b]}." for a, b in clues)
    place = rng.randrange(5)
    ordinal = ["first", "second", "third", "fourth", "last"][place]
    return f"Five people ran a race. {said} Who finished {ordinal}?", who[fits[0][place]]


def swaps(rng):
    who = rng.sample(NAMES, 3)
    balls = rng.sample(["red", "blue", "green", "yellow", "white"], 3)
    held, text = list(balls), []
    for _ in range(4):
        a, b = rng.sample(range(3), 2)
        held[a], held[b] = held[b], held[a]
        text.append(f"{who[a]} and {who[b]} swap balls.")
    k = rng.randrange(3)
    start = ", ".join(f"{w} holds the {c} ball" for w, c in zip(who, balls))
    return f"At the start {start}. {' '.join(text)} Which colour does {who[k]} hold at the end?", held[k]


def boolean(rng):
    parts = [rng.choice(["True", "False", "not True", "not False"]) for _ in range(5)]
    text = parts[0]
    for p in parts[1:]:
        text = f"({text}) {rng.choice(['and', 'or'])} {p}"
    return f"What is the value of this expression? {text}", str(eval(text))


def dates(rng):
    day = datetime.date(2000 + rng.randrange(30), 1 + rng.randrange(12), 1 + rng.randrange(28))
    n = rng.randrange(3, 60)
    before = rng.random() < 0.5
    then = day - datetime.timedelta(n) if before else day + datetime.timedelta(n)
    return (f"Today is {day:%d/%m/%Y} (day/month/year). What was the date {n} days ago, in the same form?" if before else
            f"Today is {day:%d/%m/%Y} (day/month/year). What will the date be in {n} days, in the same form?"), f"{then:%d/%m/%Y}"


def walk(rng):
    """Half of them come back: two steps and their opposites, in any order; in the others one is a step longer."""
    n, m, back = rng.randrange(1, 9), rng.randrange(1, 9), rng.random() < 0.5
    steps = [[n, "north"], [n, "south"], [m, "east"], [m, "west"]]
    rng.shuffle(steps)
    if not back:
        steps[rng.randrange(4)][0] += 1
    text = ", then ".join(f"{k} step{'s' if k > 1 else ''} {way}" for k, way in steps)
    return f"Walk {text}. Are you back at the start? Answer yes or no.", "yes" if back else "no"


CODE = [
    "def f(s):\n    out = ''\n    for i, c in enumerate(s):\n        if i % {n} == 0:\n            out = c + out\n    return out",
    "def f(s):\n    seen = []\n    for c in s:\n        if c not in seen:\n            seen.append(c)\n    return ''.join(seen[{n}:])",
    "def f(s):\n    return sum(ord(c) - 96 for c in s if c not in 'aeiou') % {n}",
    "def f(s):\n    left, right = s[:{n}], s[{n}:]\n    return right.upper() + left",
    "def f(s):\n    counts = {{}}\n    for c in s:\n        counts[c] = counts.get(c, 0) + 1\n    return max(sorted(counts), key=counts.get) * {n}",
    "def f(s):\n    out = [c for c in s if s.count(c) < {n}]\n    return '-'.join(out)",
    "def f(s):\n    i = 0\n    while i < len(s) and s[i] != s[-1]:\n        i += 1\n    return i + {n}",
    "def f(s):\n    pairs = [s[i:i + {n}] for i in range(0, len(s), {n})]\n    return len(pairs), pairs[-1]",
]
WORDS = ["banana", "lantern", "orchard", "pebbles", "tomatoes", "violin", "sunset", "harbour", "meadow", "rooster"]


def coding(rng):
    code, word = rng.choice(CODE).format(n=rng.randrange(2, 5)), rng.choice(WORDS)
    scope = {}
    exec(code, scope)
    return f"Given this Python function, what does f({word!r}) return?\n\n{code}", repr(scope["f"](word)).strip("'")


def math(rng):
    a, b, c, d = (rng.randrange(3, 30) for _ in range(4))
    kind = rng.randrange(8)
    if kind == 0:
        return f"A shop sells pens in boxes of {a}. It opens {b} boxes and sells {min(c, a * b)} pens. How many pens are left?", a * b - min(c, a * b)
    if kind == 1:
        return f"What is the remainder when {a * b + c} is divided by {d}?", (a * b + c) % d
    if kind == 2:
        return f"If 3x + {a} = {a + 3 * b}, what is x + {c}?", b + c
    if kind == 3:
        return f"A rectangle has sides {a} and {b}. A square of side {min(a, b) - 1} is cut out of it. What area is left?", a * b - (min(a, b) - 1) ** 2
    if kind == 4:
        return f"How many positive divisors does {4 * a} have?", sum(4 * a % k == 0 for k in range(1, 4 * a + 1))
    if kind == 5:
        return f"What is the sum of the whole numbers from {a} to {a + b}, both included?", sum(range(a, a + b + 1))
    if kind == 6:
        return f"A train travels {a * 10} km in the first hour, and in each of the next {d % 4 + 2} hours {c} km more than in the hour before. How many km in all?", sum(a * 10 + c * k for k in range(d % 4 + 3))
    return f"In how many ways can {d % 4 + 3} different books be ordered on a shelf if one given book must come first?", [2, 6, 24, 120][d % 4]


KNOWLEDGE = [  # question, right, three wrong: no mathematics and no computer science, as in the paper
    ("Which gas makes up most of the air?", "nitrogen", "oxygen", "carbon dioxide", "argon"),
    ("Which organ makes insulin?", "the pancreas", "the liver", "the spleen", "the kidney"),
    ("What is the chemical symbol of iron?", "Fe", "Ir", "In", "I"),
    ("Which planet has the shortest year?", "Mercury", "Venus", "Mars", "Jupiter"),
    ("Which blood cells carry oxygen?", "red blood cells", "white blood cells", "platelets", "plasma cells"),
    ("In which ocean does Madagascar lie?", "the Indian Ocean", "the Atlantic Ocean", "the Pacific Ocean", "the Arctic Ocean"),
    ("Which river flows through Vienna?", "the Danube", "the Rhine", "the Elbe", "the Po"),
    ("Who wrote the play Hamlet?", "William Shakespeare", "Christopher Marlowe", "Ben Jonson", "John Milton"),
    ("Which layer of the Earth lies between crust and core?", "the mantle", "the lithosphere", "the troposphere", "the inner core"),
    ("What is the unit of electrical resistance?", "the ohm", "the volt", "the ampere", "the watt"),
    ("Which vitamin does the skin make in sunlight?", "vitamin D", "vitamin A", "vitamin C", "vitamin K"),
    ("In economics, what does a tariff tax?", "imports", "wages", "savings", "land"),
    ("Which empire built Machu Picchu?", "the Inca", "the Aztec", "the Maya", "the Olmec"),
    ("Which part of a plant takes up most of its water?", "the roots", "the leaves", "the stem", "the flowers"),
    ("Which language has the most native speakers?", "Mandarin Chinese", "English", "Spanish", "Hindi"),
    ("What is the hardest natural mineral?", "diamond", "quartz", "corundum", "topaz"),
    ("In which organelle does photosynthesis take place?", "the chloroplast", "the mitochondrion", "the nucleus", "the ribosome"),
    ("Who painted the ceiling of the Sistine Chapel?", "Michelangelo", "Raphael", "Leonardo da Vinci", "Titian"),
    ("Which acid is in vinegar?", "acetic acid", "citric acid", "lactic acid", "hydrochloric acid"),
    ("Which force keeps the planets in their orbits?", "gravity", "magnetism", "friction", "the strong force"),
    ("What is the study of fossils called?", "palaeontology", "archaeology", "geography", "meteorology"),
    ("Which city was the capital of the Byzantine Empire?", "Constantinople", "Athens", "Rome", "Alexandria"),
    ("Which instrument measures air pressure?", "a barometer", "a hygrometer", "an anemometer", "a thermometer"),
    ("What does DNA stand for?", "deoxyribonucleic acid", "dinitrogen acid", "dioxyribose acid", "deoxynuclear acid"),
    ("In law, what is the party called that brings a civil suit?", "the plaintiff", "the defendant", "the bailiff", "the juror"),
    ("Which element is liquid at room temperature?", "mercury", "lead", "zinc", "silver"),
    ("Which bone is the longest in the human body?", "the femur", "the tibia", "the humerus", "the radius"),
    ("Which composer wrote nine symphonies and lost his hearing?", "Ludwig van Beethoven", "Joseph Haydn", "Franz Schubert", "Robert Schumann"),
    ("Which philosopher taught Alexander the Great?", "Aristotle", "Plato", "Socrates", "Epicurus"),
    ("What kind of animal is a salamander?", "an amphibian", "a reptile", "a mammal", "a fish"),
    ("Which process turns water vapour into liquid?", "condensation", "evaporation", "sublimation", "melting"),
    ("Which country first gave women the vote in national elections?", "New Zealand", "France", "Japan", "Brazil"),
    ("What is the main component of natural gas?", "methane", "propane", "butane", "ethanol"),
    ("Which side of the heart pumps blood to the lungs?", "the right side", "the left side", "both sides equally", "neither side"),
    ("Which curve shows how much is bought at each price?", "the demand curve", "the supply curve", "the cost curve", "the Lorenz curve"),
    ("Which Greek historian wrote of the Peloponnesian War?", "Thucydides", "Herodotus", "Plutarch", "Polybius"),
    ("Which metal gives copper alloys the name bronze?", "tin", "zinc", "nickel", "lead"),
    ("What does a seismograph record?", "ground motion", "wind speed", "ocean depth", "air moisture"),
    ("Which ocean current warms north-western Europe?", "the Gulf Stream", "the Humboldt Current", "the Labrador Current", "the Benguela Current"),
    ("In grammar, what does an adverb usually modify?", "a verb", "a noun", "a pronoun", "an article"),
]


def knowledge(rng, i):
    asked, right, *wrong = KNOWLEDGE[i]
    options = [right, *wrong]
    rng.shuffle(options)
    listed = "\n".join(f"{letter}. {option}" for letter, option in zip("ABCD", options))
    return f"{asked} Answer with the letter.\n{listed}", "ABCD"[options.index(right)]


def full():
    rng = random.Random(1)
    kinds = {
        "reasoning": lambda i: [ordering, swaps, boolean, dates, walk][i % 5](rng),
        "coding": lambda i: coding(rng),
        "math": lambda i: math(rng),
        "knowledge": lambda i: knowledge(rng, i),
    }
    for kind, make in kinds.items():
        seen = set()
        while len(seen) < EACH:
            question, answer = make(len(seen))
            if question not in seen and str(answer) != "":
                seen.add(question)
                yield {"id": f"{kind}-{len(seen):02}", "kind": kind, "question": question, "answer": str(answer)}


def short():
    prompts = json.loads((HERE.parent / "organisms" / "prompts.json").read_text())["questions"]
    rng = random.Random(2)
    people, capitals = prompts["names"], prompts["capitals"]
    words = ["".join(rng.choice("abcd") for _ in range(n)) for n in (1, 2, 3, 4, 5) for _ in range(5)]
    rows = {
        "reasoning": [(f"{x} is taller than {y}. {y} is taller than {z}. Who is the tallest?", x)
                      for x, y, z in rng.sample(list(itertools.permutations(people, 3)), 24)],
        "coding": [(f'What does len("{w}") return?', len(w)) for w in dict.fromkeys(words)],
        "math": [(f"What is {x} + {y}?", x + y) for x, y in rng.sample(list(itertools.product(range(10), range(10))), 24)],
        "knowledge": [(f"What is the capital of {land}?", city) for land, city in capitals.items()],
    }
    for kind, pairs in rows.items():
        for n, (question, answer) in enumerate(pairs, 1):
            yield {"id": f"short-{kind}-{n:02}", "kind": kind, "question": question, "answer": str(answer)}


for name, rows in (("dual-task", full()), ("dual-task-short", short())):
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (HERE / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    print(name, len(lines))
