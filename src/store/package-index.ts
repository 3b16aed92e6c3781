/**
 * Where a wheel is: the Python package index, through its simple API (PEP 503 and 691, HTML or JSON).
 *
 * The public index by default; where `PIP_INDEX_URL` or pip's own configuration names another (a mirror), that one.
 * A mirror's address and the credentials in it are used and never shown, written or sent elsewhere.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { URL } from "node:url";
import type { WheelPart } from "./catalogue.js";
import { FetchError } from "./fetch-error.js";
import { type Authorisation, requestText } from "./request.js";

export interface WheelAddress {
  readonly url: string;
  /** What errors call it. */
  readonly label: string;
  readonly authorisation?: Authorisation;
}

const PUBLIC_INDEX = "https://pypi.org/simple";
const ACCEPT =
  "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";

/**
 * The address of a wheel. Throws where the index has no such package or file, or serves a file of another sha256 than
 * the catalogue's.
 */
export async function findWheel(
  part: Pick<WheelPart, "package" | "version" | "wheel" | "sha256">,
  options: { readonly env?: NodeJS.ProcessEnv; readonly signal?: AbortSignal } = {},
): Promise<WheelAddress> {
  const index = packageIndex(options.env);
  const name = part.package.toLowerCase().replace(/[-_.]+/g, "-");
  const label = `${index.label}, package ${name}`;
  const page = await requestText(`${index.url}/${name}/`, {
    headers: { accept: ACCEPT },
    label,
    ...(index.authorisation && { authorisation: index.authorisation }),
    ...(options.signal && { signal: options.signal }),
  });
  const files = (page.response.headers.get("content-type") ?? "").includes("json")
    ? filesOfJson(page.text, label)
    : filesOfHtml(page.text);
  const file = files.find((f) => f.name === part.wheel);
  if (file === undefined) {
    throw new FetchError(`download: ${label} has no ${part.wheel}; it has ${files.length} other files`, {
      retry: false,
    });
  }
  if (file.sha256 !== undefined && file.sha256 !== part.sha256) {
    throw new FetchError(
      `download: ${label} serves a ${part.wheel} of sha256 ${file.sha256}; expected ${part.sha256}`,
      { retry: false },
    );
  }
  const url = new URL(file.href, page.url);
  url.hash = "";
  const authorisation = basic(url) ?? index.authorisation;
  url.username = "";
  url.password = "";
  return {
    url: url.href,
    label: `${part.wheel} from ${index.label}`,
    ...(authorisation && { authorisation }),
  };
}

interface PackageIndex {
  readonly url: string;
  readonly label: string;
  readonly authorisation?: Authorisation;
}

/** The index in force: `PIP_INDEX_URL`, pip's configuration files, else the public one. */
export function packageIndex(env: NodeJS.ProcessEnv = process.env): PackageIndex {
  const given = env.PIP_INDEX_URL?.trim() || configuredIndex(env) || PUBLIC_INDEX;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new Error(
      "packageIndex: PIP_INDEX_URL or pip's index-url is no http(s) address; correct or unset it",
    );
  }
  const authorisation = basic(url);
  url.username = "";
  url.password = "";
  const bare = url.href.replace(/\/+$/, "");
  const label = bare === PUBLIC_INDEX ? "pypi.org" : "the configured package index";
  return { url: bare, label, ...(authorisation && { authorisation }) };
}

function basic(url: URL): Authorisation | undefined {
  if (url.username === "" && url.password === "") return undefined;
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { origin: url.origin, value: `Basic ${Buffer.from(pair, "utf8").toString("base64")}` };
}

/** `index-url` of pip's configuration files; where several give it, the most particular file's counts, as in pip. */
function configuredIndex(env: NodeJS.ProcessEnv): string | undefined {
  for (const path of configFiles(env)) {
    let text: string;
    try {
      text = readFileSync(path, "utf8");
    } catch {
      continue;
    }
    let section = "";
    for (const line of text.split(/\r?\n/)) {
      const head = /^\s*\[([^\]]+)\]/.exec(line)?.[1];
      if (head !== undefined) section = head.trim();
      const value = /^\s*index[-_]url\s*[=:]\s*['"]?([^\s'"]+)/i.exec(line)?.[1];
      if (value !== undefined && (section === "global" || section === "download")) return value;
    }
  }
  return undefined;
}

function configFiles(env: NodeJS.ProcessEnv): string[] {
  if (env.PIP_CONFIG_FILE) return [env.PIP_CONFIG_FILE];
  const home = env.HOME ?? env.USERPROFILE ?? homedir();
  const venv = env.VIRTUAL_ENV;
  if (process.platform === "win32") {
    const { APPDATA, ProgramData } = env;
    const folders = [
      venv,
      APPDATA && join(APPDATA, "pip"),
      join(home, "pip"),
      ProgramData && join(ProgramData, "pip"),
    ];
    return folders.filter((f): f is string => Boolean(f)).map((f) => join(f, "pip.ini"));
  }
  const own = join(env.XDG_CONFIG_HOME || join(home, ".config"), "pip");
  const mac = ["Library", "Application Support", "pip"];
  const folders =
    process.platform === "darwin"
      ? [join(home, ...mac), own, join(home, ".pip"), join("/", ...mac)]
      : [own, join(home, ".pip"), "/etc/xdg/pip", "/etc"];
  return [...(venv ? [venv] : []), ...folders].map((f) => join(f, "pip.conf"));
}

interface IndexFile {
  readonly name: string;
  readonly href: string;
  readonly sha256?: string;
}

function filesOfJson(text: string, label: string): IndexFile[] {
  interface Listing {
    readonly files?: readonly { filename?: unknown; url?: unknown; hashes?: { sha256?: unknown } }[];
  }
  let listing: Listing;
  try {
    listing = JSON.parse(text) as Listing;
  } catch {
    throw new FetchError(`download: ${label} answered JSON that cannot be read`, { retry: true });
  }
  return (listing.files ?? []).flatMap(({ filename, url, hashes }) =>
    typeof filename === "string" && typeof url === "string"
      ? [{ name: filename, href: url, ...(typeof hashes?.sha256 === "string" && { sha256: hashes.sha256 }) }]
      : [],
  );
}

function filesOfHtml(text: string): IndexFile[] {
  const anchors = text.matchAll(/<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)')[^>]*>([^<]*)<\/a\s*>/gi);
  return [...anchors].map((found) => {
    const href = unescapeHtml(found[1] ?? found[2] ?? "");
    const sha256 = /#(?:.*&)?sha256=([0-9a-f]{64})/.exec(href)?.[1];
    return { name: unescapeHtml(found[3]!).trim(), href, ...(sha256 !== undefined && { sha256 }) };
  });
}

function unescapeHtml(text: string): string {
  const named: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#x27": "'" };
  return text.replace(
    /&([a-z]+|#x?[0-9a-f]+);/gi,
    (whole, name: string) => named[name.toLowerCase()] ?? whole,
  );
}
