/** Random answers as models write them, for properties of readers and of verification. */
import { type Random, random } from "../../src/stats/random.js";

export interface RandomAnswer {
  /** The right answer, canonical. */
  readonly answer: string;
  /** What was written, cut into tokens: digits alone, in twos and threes, with and without a space or comma before them. */
  readonly pieces: readonly string[];
  readonly text: string;
  /** A cut somewhere in the text. */
  readonly cut: number;
}

const OTHERS = [
  " ",
  ",",
  "\n",
  ".",
  "-",
  "+",
  "0",
  "00",
  "1",
  "7",
  "12",
  "120",
  " 4",
  ",2",
  "=",
  "x",
  " is",
  "**",
];

/** Cuts a text into pieces of one to three characters. */
function pieces(draw: Random, text: string): string[] {
  const cut: string[] = [];
  for (let at = 0; at < text.length; ) {
    const length = draw.integer(1, 3);
    cut.push(text.slice(at, at + length));
    at += length;
  }
  return cut;
}

function rightAnswer(draw: Random): string {
  const kind = draw.integer(0, 9);
  if (kind === 0) return "0";
  const value = draw.integer(1, 10 ** draw.integer(1, 5));
  return kind === 1 ? `-${value}` : String(value);
}

/** The answer written some way, right or nearly so. */
function writing(draw: Random, answer: string): string {
  let text = answer;
  if (draw.uniform() < 0.3) text = text.replace(/\B(?=(\d{3})+$)/g, draw.choice([",", " ", "."]));
  if (draw.uniform() < 0.2) text = draw.choice(["0", "00", " ", "\n", "-", "+", ","]) + text;
  if (draw.uniform() < 0.3) {
    const at = draw.integer(0, text.length);
    text = text.slice(0, at) + draw.choice(OTHERS) + text.slice(at + draw.integer(0, 1));
  }
  if (draw.uniform() < 0.5) text += draw.choice(OTHERS);
  return text;
}

export function* randomAnswers(key: string, count: number): Iterable<RandomAnswer> {
  const draw = random(4, key);
  for (let i = 0; i < count; i++) {
    const answer = rightAnswer(draw);
    const text = writing(draw, answer);
    yield { answer, pieces: pieces(draw, text), text, cut: draw.integer(0, text.length) };
  }
}
