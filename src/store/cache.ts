/**
 * The folder in which downloads and hashes live. Everything in it can be fetched or computed again, so removing it
 * loses time and nothing else.
 */
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve, sep } from "node:path";

export interface CacheOptions {
  /** Cache folder to use. Default {@link cacheFolder}`()`. */
  readonly cache?: string;
}

export interface CachedFile {
  /** Path relative to the cache folder, with `/`. */
  readonly path: string;
  readonly bytes: number;
  /** Last change, ms since 1970. */
  readonly modified: number;
}

/**
 * The cache folder: `COUNTLENS_CACHE` where it is set, else the platform's own place: `$XDG_CACHE_HOME/countlens` or
 * `~/.cache/countlens`, on macOS `~/Library/Caches/countlens`, on Windows `%LOCALAPPDATA%\countlens\Cache`.
 * The folder is not made here.
 */
export function cacheFolder(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  if (env.COUNTLENS_CACHE) return resolve(expandHome(env.COUNTLENS_CACHE));
  // The XDG specification says that a relative path in the variable is to be ignored.
  if (env.XDG_CACHE_HOME && isAbsolute(env.XDG_CACHE_HOME)) return join(env.XDG_CACHE_HOME, "countlens");
  if (platform === "darwin") return join(homedir(), "Library", "Caches", "countlens");
  if (platform === "win32") {
    return join(env.LOCALAPPDATA ?? join(homedir(), "AppData", "Local"), "countlens", "Cache");
  }
  return join(homedir(), ".cache", "countlens");
}

/** `~` and `~/...` as the user's home folder; anything else unchanged. */
export function expandHome(path: string): string {
  if (path === "~") return homedir();
  return /^~[/\\]/.test(path) ? join(homedir(), path.slice(2)) : path;
}

/**
 * A path inside `folder`, from parts that came from outside. Throws where the result would lie outside it: names in
 * catalogues and archives are data, and `..` in one must not write elsewhere.
 */
export function pathInside(folder: string, ...parts: readonly string[]): string {
  const base = resolve(folder);
  const path = resolve(base, ...parts);
  const way = relative(base, path);
  if (way === "" || way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way) || parts.some(isAbsolute)) {
    throw new Error(
      `pathInside: ${parts.join("/")} leads out of its folder; expected a relative path below it`,
    );
  }
  return path;
}

/** All files of the cache, sorted by path. An absent folder is an empty cache. */
export async function listCache(options: CacheOptions = {}): Promise<CachedFile[]> {
  const folder = options.cache ?? cacheFolder();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(absentIsEmpty);
  const files: CachedFile[] = [];
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const full = join(entry.parentPath ?? entry.path, entry.name);
    const about = await stat(full).catch(() => undefined); // another process may just have removed it
    if (about === undefined) continue;
    const path = relative(folder, full).split(sep).join("/");
    files.push({ path, bytes: about.size, modified: about.mtimeMs });
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/**
 * Remove a file or folder of the cache, given relative to it, and say how many bytes went. Throws for a path that
 * leads out of the cache; an absent one removes 0 bytes.
 */
export async function removeFromCache(path: string, options: CacheOptions = {}): Promise<number> {
  const folder = options.cache ?? cacheFolder();
  const target = pathInside(folder, path);
  const about = await stat(target).catch(() => undefined);
  if (about === undefined) return 0;
  const bytes = about.isDirectory()
    ? (await listCache({ cache: target })).reduce((sum, file) => sum + file.bytes, 0)
    : about.size;
  await rm(target, { recursive: true, force: true });
  return bytes;
}

/** Make a folder and those above it; `EACCES` and `EROFS` become a line that says which variable moves the cache. */
export async function makeCacheFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new Error(
      `cache: ${folder} cannot be made (${code}); set COUNTLENS_CACHE to a folder that can be written`,
      { cause: error },
    );
  }
}

function absentIsEmpty(error: NodeJS.ErrnoException): [] {
  if (error.code === "ENOENT") return [];
  throw error;
}
