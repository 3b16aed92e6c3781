/** Prompt templates: a system text and a user text with `{placeholders}`. */
import type { PromptParts } from "../model/prompt.js";

/** System and user text of a prompt, with `{field}` where an instance's fields go. */
export interface Template {
  readonly name: string;
  readonly system?: string;
  /** With a `{field}` for every field of the task: `{a}*{b}=`. Placeholders in `system` are filled too. */
  readonly user: string;
}

const PLACEHOLDER = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

function placeholders(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map((match) => match[1]!);
}

function fillText(text: string, fields: Readonly<Record<string, string>>): string {
  return text.replace(PLACEHOLDER, (_, field: string) => fields[field]!);
}

/**
 * Fails unless the template holds every field of the task, and no placeholder that the task does not have.
 *
 * @param fields the names of the task's fields
 */
export function checkTemplate(task: string, template: Template, fields: readonly string[]): void {
  const found = placeholders(`${template.system ?? ""}\n${template.user}`);
  const named = fields.map((field) => `{${field}}`).join(" and ");
  for (const field of fields) {
    if (!found.includes(field)) {
      throw new Error(`template: "${template.name}" has no {${field}}; ${task} needs ${named} in it`);
    }
  }
  for (const field of found) {
    if (!fields.includes(field)) {
      throw new Error(
        `template: "${template.name}" has {${field}}, which ${task} does not fill; it fills ${named}`,
      );
    }
  }
}

/** The prompt of one instance. Placeholders without a field are a fault of the caller: see `checkTemplate`. */
export function fillTemplate(template: Template, fields: Readonly<Record<string, string>>): PromptParts {
  const user = fillText(template.user, fields);
  return template.system === undefined ? { user } : { system: fillText(template.system, fields), user };
}
