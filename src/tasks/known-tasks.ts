/** The tasks of this library by name: for command lines, and for results that come back from a file. */
import { chromaticNumberTask } from "./chromatic-number.js";
import { multiplication } from "./multiplication.js";
import { parentheses } from "./parentheses.js";
import { parity } from "./parity.js";
import type { Task } from "./task.js";

/** Every variant that has a name or a reader of its own, defaults first. */
function knownTasks(): Task<never>[] {
  const all: unknown[] = [
    multiplication(),
    multiplication({ reader: "last" }),
    multiplication({ reader: "only" }),
    parity(),
    parentheses(),
    chromaticNumberTask(),
    chromaticNumberTask({ graphs: "classes" }),
  ];
  return all as Task<never>[];
}

/**
 * The task of that name. Hyphens may stand for spaces.
 *
 * @param reader name of the reader it was used with; default the task's own
 * @throws with the names there are
 */
export function taskNamed(name: string, reader?: string): Task<never> {
  const tasks = knownTasks();
  const wanted = name.replaceAll("-", " ");
  const named = tasks.filter((task) => task.name === wanted);
  const found = reader === undefined ? named[0] : named.find((task) => task.reader.name === reader);
  if (found !== undefined) return found;
  if (named.length > 0)
    throw new Error(
      `task: ${name} is not known with the reader "${reader ?? ""}"; it has ${named.map((task) => task.reader.name).join(", ")}`,
    );
  const names = [...new Set(tasks.map((task) => task.name.replaceAll(" ", "-")))];
  throw new Error(`task: "${name}" is not a task of this library; there are ${names.join(", ")}`);
}
