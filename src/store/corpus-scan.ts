/** One shard through DuckDB: every candidate text with its count, in a single streaming pass. */

export interface Candidate {
  /** What the pattern matched; "" stands for the documents themselves. */
  readonly text: string;
  readonly count: number;
  /** Code points of the documents, on the line of the candidate "". */
  readonly characters: number;
}

export interface Scanner {
  /** Aborting interrupts the query within moments and rejects with the signal's reason. */
  scan(shard: string, column: string, pattern: string, signal?: AbortSignal): Promise<Candidate[]>;
  close(): void;
}

/** A scanner in memory, with this many threads. */
export async function openScanner(threads: number): Promise<Scanner> {
  if (!Number.isInteger(threads) || threads < 1)
    throw new Error(`openScanner: ${threads} threads; expected a whole number from 1`);
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const instance = await DuckDBInstance.create(":memory:", { threads: String(threads) });
  const connection = await instance.connect();
  // The order of rows does not matter to a count, and keeping it would hold them in memory.
  await connection.run("SET preserve_insertion_order = false");
  return {
    async scan(shard, column, pattern, signal) {
      signal?.throwIfAborted();
      const stop = () => connection.interrupt();
      signal?.addEventListener("abort", stop, { once: true });
      try {
        const result = await connection.run(query(shard, column, pattern));
        const rows = await result.getRowsJS();
        return rows.map(([text, count, characters]) => ({
          text: String(text),
          count: Number(count),
          characters: Number(characters),
        }));
      } catch (error) {
        signal?.throwIfAborted();
        const [first] = (error as Error).message.split("\n");
        throw new Error(
          `countCorpus: ${shard} cannot be read: ${first}; check the file and its column "${column}"`,
        );
      } finally {
        signal?.removeEventListener("abort", stop);
      }
    },
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** Each document gives one row "" with its length and one row for each candidate: totals and counts in one pass. */
function query(shard: string, column: string, pattern: string): string {
  const name = `"${column.replaceAll('"', '""')}"`;
  return `
    SELECT candidate, count(*) AS n, sum(CASE WHEN candidate = '' THEN characters ELSE 0 END) AS characters
    FROM (
      SELECT unnest(list_concat([''], regexp_extract_all(document, ${literal(pattern)}))) AS candidate,
        length(document) AS characters
      FROM (SELECT coalesce(${name}, '') AS document FROM ${source(shard, column)})
    )
    GROUP BY candidate`;
}

const JSON_LINES = /\.(?:jsonl|ndjson|json)(\.gz|\.zst)?$/i;
const PARQUET = /\.parquet$/i;

/** Refuses a shard whose name says none of the kinds that can be read. */
export function checkShardKind(shard: string): void {
  if (!PARQUET.test(shard) && !JSON_LINES.test(shard))
    throw new Error(`countCorpus: ${shard}; expected .jsonl, .jsonl.gz, .jsonl.zst or .parquet`);
}

function source(shard: string, column: string): string {
  if (PARQUET.test(shard)) return `read_parquet(${literal(shard)})`;
  const kind = JSON_LINES.exec(shard)?.[1] ?? "";
  const compression = { ".gz": "gzip", ".zst": "zstd" }[kind.toLowerCase()] ?? "uncompressed";
  // A document may be longer than DuckDB's default of 16 MB for a line.
  return (
    `read_json(${literal(shard)}, format = 'newline_delimited', compression = '${compression}', ` +
    `columns = {${literal(column)}: 'VARCHAR'}, maximum_object_size = 268435456)`
  );
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
