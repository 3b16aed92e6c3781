import type { CorpusCounts } from "./corpus-result.js";

/**
 * Adds up counts of different shards: the parts of a job array give what one run over all shards gives, to the byte of its
 * JSON (keys and shards are sorted). Refused: no parts, parts counted by different rules, and a shard that is in two parts.
 */
export function mergeCounts(parts: readonly CorpusCounts[]): CorpusCounts {
  const [first] = parts;
  if (first === undefined) throw new Error("mergeCounts: no parts; expected at least one");
  const rules = rulesOf(first);
  const shards = new Set<string>();
  const missing = new Set<string>();
  const pairs = new Map<string, number>();
  const byForm = new Map(first.summary.forms.map((form) => [form, 0]));
  const total = { documents: 0, characters: 0, matches: 0 };
  for (const { summary, pair_counts } of parts) {
    if (rulesOf({ summary }) !== rules)
      throw new Error(
        "mergeCounts: the parts differ in keys, operands, forms or column; count them all the same way",
      );
    for (const shard of summary.shards) {
      if (shards.has(shard))
        throw new Error(`mergeCounts: ${shard} is in two parts; expected each shard once`);
      shards.add(shard);
    }
    for (const shard of summary.missing_shards) missing.add(shard);
    for (const [pair, count] of Object.entries(pair_counts)) pairs.set(pair, (pairs.get(pair) ?? 0) + count);
    for (const [form, count] of Object.entries(summary.matches_by_form))
      byForm.set(form, (byForm.get(form) ?? 0) + count);
    total.documents += summary.total_documents;
    total.characters += summary.total_characters;
    total.matches += summary.total_matches;
  }
  return {
    summary: {
      ...first.summary,
      total_documents: total.documents,
      total_characters: total.characters,
      total_matches: total.matches,
      unique_pairs: pairs.size,
      shards_processed: shards.size,
      missing_shards: [...missing].filter((shard) => !shards.has(shard)).sort(),
      matches_by_form: Object.fromEntries(byForm),
      shards: [...shards].sort(),
    },
    pair_counts: Object.fromEntries([...pairs].sort(([x], [y]) => byOperands(x, y))),
  };
}

function rulesOf({ summary }: Pick<CorpusCounts, "summary">): string {
  const { keys, operands, forms, not_counted, text_column } = summary;
  return JSON.stringify([keys, operands, forms, not_counted, text_column]);
}

function byOperands(x: string, y: string): number {
  const [a = 0, b = 0] = x.split(",").map(Number);
  const [c = 0, d = 0] = y.split(",").map(Number);
  return a - c || b - d;
}
