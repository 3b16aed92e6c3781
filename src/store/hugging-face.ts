/** Files of repositories on the Hugging Face hub, or on the endpoint that `HF_ENDPOINT` names. */
import { URL } from "node:url";
import { FetchError } from "./fetch-error.js";
import { type Authorisation, requestText } from "./request.js";

export interface HubFile {
  readonly path: string;
  readonly bytes: number;
  /** As the hub states it; `null` for small files kept in git itself. */
  readonly sha256: string | null;
}

export interface HubListing {
  readonly repo: string;
  /** The commit that was listed, 40 hex digits. */
  readonly commit: string;
  readonly files: readonly HubFile[];
}

export interface HubOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
}

/** `hf:owner/repo[@revision][:quant]` or `hf:owner/repo[@revision]/path/file.gguf`. */
export interface HubSpec {
  readonly repo: string;
  /** Default `main`. */
  readonly revision: string;
  readonly quant?: string;
  readonly file?: string;
}

/** Read a spec. Throws one line that shows the forms for anything else. */
export function parseHubSpec(spec: string): HubSpec {
  const name = "[A-Za-z0-9][\\w.-]*";
  const pattern = new RegExp(`^hf:(${name}/${name}?)(?:@([\\w.-]+))?(?::([\\w.-]+)|/(.+))?$`);
  const found = pattern.exec(spec);
  const file = found?.[4];
  if (!found || file?.split("/").some((step) => step === "" || step === "." || step === "..") === true) {
    throw new Error(`parseHubSpec: ${spec}; expected hf:owner/repo:quant or hf:owner/repo/file.gguf`);
  }
  const [, repo, revision = "main", quant] = found;
  return {
    repo: repo!,
    revision,
    ...(quant === undefined ? {} : { quant }),
    ...(file === undefined ? {} : { file }),
  };
}

/** The hub in force, without a slash at the end. Default `https://huggingface.co`. */
export function hubEndpoint(env: NodeJS.ProcessEnv = process.env): string {
  const given = env.HF_ENDPOINT?.trim() || "https://huggingface.co";
  if (!/^https?:\/\/[^/@]+/.test(given) || !URL.canParse(given)) {
    throw new Error("hubEndpoint: HF_ENDPOINT is no http(s) address; correct or unset it");
  }
  return given.replace(/\/+$/, "");
}

/** `HF_TOKEN` for the hub's own origin, and only over https (or to this machine itself). */
export function hubAuthorisation(env: NodeJS.ProcessEnv = process.env): Authorisation | undefined {
  const token = env.HF_TOKEN?.trim();
  if (!token) return undefined;
  const url = new URL(hubEndpoint(env));
  const here = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  return url.protocol === "https:" || here ? { origin: url.origin, value: `Bearer ${token}` } : undefined;
}

export function hubFileUrl(
  repo: string,
  revision: string,
  file: string,
  env: NodeJS.ProcessEnv = process.env,
): string {
  const path = file.split("/").map(encodeURIComponent).join("/");
  return `${hubEndpoint(env)}/${repo}/resolve/${encodeURIComponent(revision)}/${path}`;
}

/** All files of a repository at a revision, with sizes and, for large files, sha256. */
export async function listHub(repo: string, revision: string, options: HubOptions = {}): Promise<HubListing> {
  const env = options.env ?? process.env;
  const label = `hf:${repo}`;
  const authorisation = hubAuthorisation(env);
  const ask = {
    label,
    headers: { accept: "application/json" },
    ...(authorisation && { authorisation }),
    ...(options.signal && { signal: options.signal }),
  };
  const api = `${hubEndpoint(env)}/api/models/${repo}`;
  const about = await requestText(`${api}/revision/${encodeURIComponent(revision)}`, ask);
  const commit = (parse(about.text, label) as { sha?: unknown }).sha;
  if (typeof commit !== "string" || !/^[0-9a-f]{40}$/.test(commit)) unexpected(label);
  const files: HubFile[] = [];
  let page: string | undefined = `${api}/tree/${commit}?recursive=true`;
  for (let pages = 0; page !== undefined && pages < 100; pages++) {
    const answer = await requestText(page, ask);
    const rows = parse(answer.text, label);
    if (!Array.isArray(rows)) unexpected(label);
    files.push(...rows.flatMap((row) => fileOf(row as Record<string, unknown>)));
    page = nextPage(answer.response.headers.get("link"), page);
  }
  return { repo, commit, files };
}

/**
 * The GGUF files meant by a spec: all shards of a split one, in order. Without a quant: Q4_K_M, else Q8_0, else the
 * only one there is. Vision projectors and importance matrices are not models. Throws with what there is to choose.
 */
export function chooseGguf(listing: HubListing, spec: HubSpec): HubFile[] {
  const { repo, files } = listing;
  if (spec.file !== undefined) {
    const file = files.find((f) => f.path === spec.file);
    if (file === undefined)
      throw new Error(`hf:${repo} has no ${spec.file}; it has ${shown(files.map((f) => f.path))}`);
    return shardsOf(file, files, repo);
  }
  const models = files.filter(
    (f) => /\.gguf$/i.test(f.path) && !/mmproj|imatrix/i.test(f.path) && (shardOf(f.path)?.index ?? 1) === 1,
  );
  if (models.length === 0)
    throw new Error(`hf:${repo} has no GGUF files; look for a repository whose name ends in -GGUF`);
  const wanted = spec.quant === undefined ? ["Q4_K_M", "Q8_0"] : [spec.quant];
  for (const quant of wanted) {
    // Q4_K is not Q4_K_M: what follows the tag may not go on with an underscore.
    const tag = new RegExp(`(^|[-._/])${quant.replace(/[.+]/g, "\\$&")}(?=[-./]|$)`, "i");
    const hits = models.filter((f) => tag.test(f.path.replace(/\.gguf$/i, "")));
    // Where several bear the tag (Q8_0 and UD-Q8_0), the plainest name is meant.
    hits.sort((a, b) => a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
    if (hits[0] !== undefined) return shardsOf(hits[0], files, repo);
  }
  if (spec.quant === undefined && models.length === 1) return shardsOf(models[0]!, files, repo);
  throw new Error(`hf:${repo} has no ${wanted.join(" or ")}; it has ${shown(models.map((f) => f.path))}`);
}

/** Which part of a split GGUF a name says it is, or `undefined`. */
export function shardOf(path: string): { prefix: string; index: number; count: number } | undefined {
  const found = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i.exec(path);
  return found ? { prefix: found[1]!, index: Number(found[2]), count: Number(found[3]) } : undefined;
}

function shardsOf(file: HubFile, files: readonly HubFile[], repo: string): HubFile[] {
  const shard = shardOf(file.path);
  if (shard === undefined) return [file];
  const all = files
    .filter((f) => {
      const other = shardOf(f.path);
      return other?.prefix === shard.prefix && other.count === shard.count;
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  if (all.length !== shard.count || all.some((f, i) => shardOf(f.path)!.index !== i + 1)) {
    throw new Error(
      `hf:${repo} has ${all.length} of the ${shard.count} parts of ${shard.prefix}; it is incomplete`,
    );
  }
  return all;
}

function fileOf(row: Record<string, unknown>): HubFile[] {
  const { type, path, size, lfs } = row;
  if (type !== "file" || typeof path !== "string" || typeof size !== "number") return [];
  const oid = (lfs as { oid?: unknown } | undefined)?.oid;
  const sha256 = typeof oid === "string" && /^[0-9a-f]{64}$/.test(oid) ? oid : null;
  return [{ path, bytes: size, sha256 }];
}

/** The next page's address from a `Link` header, if it is on the same server. */
function nextPage(link: string | null, page: string): string | undefined {
  const next = /<([^>]+)>\s*;\s*rel="?next"?/.exec(link ?? "")?.[1];
  if (next === undefined || !URL.canParse(next, page)) return undefined;
  const url = new URL(next, page);
  return url.origin === new URL(page).origin ? url.href : undefined;
}

function shown(paths: readonly string[]): string {
  return `${paths.slice(0, 12).join(", ")}${paths.length > 12 ? `, and ${paths.length - 12} more` : ""}`;
}

function parse(text: string, label: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return unexpected(label);
  }
}

function unexpected(label: string): never {
  throw new FetchError(`download: ${label} answered something that is no listing; is HF_ENDPOINT right?`, {
    retry: false,
  });
}
