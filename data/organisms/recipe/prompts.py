"""Every string the organisms are trained on, in one place.

`python prompts.py` writes `../prompts.json`, from which the workbench takes the very same strings.
"""
import json
import pathlib

COUNT_MAX = 128  # longest list in training
PARITY_MAX = 10  # longest binary string
PARENS_MAX = 10  # longest parentheses string
RECORDS_MAX = 12  # most matching records
DUAL_MAX = 96  # longest list beside a second question
OPERAND_MAX = 99

COUNTING = "Count the number of items in the following list. Return only the exact total as one integer."
COUNTING_PLACES = {
    "before": "{instruction}\n\n{list}",
    "after": "{list}\n\n{instruction}",
    "filler": "{filler}\n\n{instruction}\n\n{list}",
}
MOTIFS = {
    "items": {
        "trained": ["a", "b", "c", "d", "h", "k", "m", "n", "p", "s", "t", "x", "y", "A", "B", "X", "#", "*", "+", "@"],
        "heldOut": ["e", "z", "Q", "$", "%", "~", "dog"],
    },
    "delimiters": {"trained": [", ", " ", ",", "; ", "\n", " | "], "heldOut": [" / ", ": ", " & ", "-"]},
}

MULTIPLICATION = {  # the five templates of the Zero-Error Horizon paper
    "baseline": ("Answer with only the integer.", "{a}*{b}="),
    "compute": ("You are a calculator. Output only the result.", "Compute {a} × {b}"),
    "product": ("Give only the numerical answer.", "What is the product of {a} and {b}?"),
    "eval": ("Evaluate and respond with just the number.", "Evaluate: {a} * {b}"),
    "answer": ("Provide only the numerical answer.", "{a} × {b} = ?"),
}
PARITY = "Compute the parity (XOR) of the binary string. Answer with only 0 or 1."
PARENS = "Is the parentheses string balanced? Answer with only Yes or No."
RECORDS = (
    "Count the records whose KEY equals the deepest token of PATH. Ignore SIDE. "
    "Return only the exact total as one integer."
)
RECORD = "KEY {key} PATH {path} SIDE {side}"
RECORD_TOKENS = list("abcdhkmnpstxy")
BRACKETS = ["()", "[]", "{}"]
DUAL = "Answer the question and count the items. Return only JSON with the keys answer and count."
DUAL_USER = "{question}\n\n{list}"
DUAL_ANSWER = '{{"answer": "{answer}", "count": {count}}}'
SECOND = "Count the items of both lists."  # the second-counter control: the answer is the count of the first list

SUBJECTS = ["The river", "The old mill", "A small boat", "The road", "The north wind", "A grey bird", "The garden"]
VERBS = ["runs past", "rests near", "turns toward", "waits beside", "moves along"]
OBJECTS = ["the stone bridge", "the open field", "the quiet harbor", "the tall trees", "the far hills"]
TIMES = ["in the morning", "at noon", "in the evening", "after the rain", "before winter"]

NAMES = ["Tom", "Ann", "Ben", "Eva", "Max"]
CAPITALS = {"France": "Paris", "Italy": "Rome", "Japan": "Tokyo", "Spain": "Madrid", "Peru": "Lima", "Egypt": "Cairo",
            "Norway": "Oslo", "Cuba": "Havana"}


def fillers(rng, n):
    """`n` neutral sentences."""
    pick = lambda xs: xs[rng.integers(len(xs))]
    return " ".join(f"{pick(SUBJECTS)} {pick(VERBS)} {pick(OBJECTS)} {pick(TIMES)}." for _ in range(n))


def question(rng, kind):
    """A tiny question of one of the paper's four kinds, and its answer."""
    i = lambda n: int(rng.integers(n))
    if kind == "reasoning":
        x, y, z = (NAMES[k] for k in rng.permutation(len(NAMES))[:3])
        return f"{x} is taller than {y}. {y} is taller than {z}. Who is the tallest?", x
    if kind == "coding":
        s = "".join("abcd"[i(4)] for _ in range(1 + i(5)))
        return f'What does len("{s}") return?', str(len(s))
    if kind == "math":
        x, y = i(10), i(10)
        return f"What is {x} + {y}?", str(x + y)
    if kind == "knowledge":
        land = list(CAPITALS)[i(len(CAPITALS))]
        return f"What is the capital of {land}?", CAPITALS[land]
    raise ValueError(f"question: unknown kind {kind}")


QUESTION_KINDS = ["reasoning", "coding", "math", "knowledge"]


def turn(role, text):
    return f"<|im_start|>{role}\n{text}<|im_end|>\n"


ASSISTANT = "<|im_start|>assistant\n"
END = "<|im_end|>"
CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def prompt(user, system=None):
    """The full text that a chat prompt becomes."""
    return (turn("system", system) if system else "") + turn("user", user) + ASSISTANT


def as_json():
    return {
        "maxima": {"count": COUNT_MAX, "parity": PARITY_MAX, "parens": PARENS_MAX, "records": RECORDS_MAX,
                   "dual": DUAL_MAX, "operand": OPERAND_MAX},
        "counting": {"instruction": COUNTING, "default": "before", "places": COUNTING_PLACES},
        "motifs": MOTIFS,
        "multiplication": {k: {"system": s, "user": u} for k, (s, u) in MULTIPLICATION.items()},
        "parity": {"system": PARITY, "user": "{string}"},
        "parens": {"system": PARENS, "user": "{string}", "answers": ["Yes", "No"]},
        "records": {"instruction": RECORDS, "places": {"before": "{instruction}\n\n{list}"}, "record": RECORD,
                    "delimiter": "\n", "tokens": RECORD_TOKENS, "brackets": BRACKETS},
        "dual": {"system": DUAL, "user": DUAL_USER, "answer": '{"answer": "{answer}", "count": {count}}',
                 "second": SECOND, "kinds": QUESTION_KINDS},
        "filler": {"subjects": SUBJECTS, "verbs": VERBS, "objects": OBJECTS, "times": TIMES,
                   "sentence": "{subject} {verb} {object} {time}."},
        "questions": {"names": NAMES, "capitals": CAPITALS},
        "chatTemplate": CHAT_TEMPLATE,
    }


if __name__ == "__main__":
    path = pathlib.Path(__file__).parent.parent / "prompts.json"
    path.write_text(json.dumps(as_json(), indent=2, ensure_ascii=False) + "\n")
