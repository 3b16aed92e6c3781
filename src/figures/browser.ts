/**
 * One headless Chrome or Chromium for pictures: found on this machine, started at the first picture, kept for the
 * next ones, and gone with the process. It never keeps the process alive.
 */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Browser } from "playwright-core";

const NAMES = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "msedge",
  "microsoft-edge",
];

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  // Text is laid out and drawn the same on every screen.
  "--font-render-hinting=none",
  "--force-color-profile=srgb",
];

/** What to tell somebody who has no browser. */
export const NO_BROWSER =
  "no Chrome or Chromium found; install one (Debian and Ubuntu: apt-get install chromium; macOS: brew install --cask " +
  "google-chrome; Windows: winget install Google.Chrome) or set COUNTLENS_CHROME to its path";

/**
 * Path of the browser: `COUNTLENS_CHROME`, else the usual names on the PATH, else the usual places of macOS and
 * Windows. `undefined` where there is none; throws where `COUNTLENS_CHROME` names a file that is not there.
 */
export function findBrowser(
  env: NodeJS.ProcessEnv = process.env,
  platform: string = process.platform,
): string | undefined {
  const given = env.COUNTLENS_CHROME;
  if (given) {
    if (existsSync(given)) return given;
    throw new Error(
      `findBrowser: COUNTLENS_CHROME is ${given}, and no such file exists; correct it or unset it`,
    );
  }
  const ending = platform === "win32" ? ".exe" : "";
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const onPath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name + ending)));
  return [...onPath, ...usualPlaces(env, platform)].find((path) => existsSync(path));
}

function usualPlaces(env: NodeJS.ProcessEnv, platform: string): string[] {
  if (platform === "darwin") {
    const applications = ["/Applications", join(env.HOME ?? "", "Applications")];
    const apps = ["Google Chrome", "Chromium", "Microsoft Edge"];
    return applications.flatMap((folder) =>
      apps.map((app) => join(folder, `${app}.app/Contents/MacOS/${app}`)),
    );
  }
  if (platform === "win32") {
    const roots = [env.PROGRAMFILES, env["PROGRAMFILES(X86)"], env.LOCALAPPDATA].filter(
      (root): root is string => root !== undefined,
    );
    const programs = [
      "Google/Chrome/Application/chrome.exe",
      "Chromium/Application/chrome.exe",
      "Microsoft/Edge/Application/msedge.exe",
    ];
    return roots.flatMap((root) => programs.map((program) => join(root, program)));
  }
  return ["/snap/bin/chromium", "/opt/google/chrome/chrome"];
}

let running: Promise<Browser> | undefined;

/** The browser, started where it is not running. Throws `NO_BROWSER` where there is none. */
export function openBrowser(): Promise<Browser> {
  running ??= start().catch((error: unknown) => {
    running = undefined;
    throw error;
  });
  return running;
}

/** Closes the browser, if one runs. Not needed before the process ends. */
export async function closeBrowser(): Promise<void> {
  const browser = running;
  running = undefined;
  await (await browser?.catch(() => undefined))?.close();
}

/** Runs `work` and keeps the process alive meanwhile, which the browser itself does not. */
export async function held<T>(work: () => Promise<T>): Promise<T> {
  const hold = setInterval(() => {}, 60_000);
  try {
    return await work();
  } finally {
    clearInterval(hold);
  }
}

async function start(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error(`openBrowser: ${NO_BROWSER}`);
  const { chromium } = await import("playwright-core");
  const before = new Set(children(executablePath));
  const browser = await chromium.launch({
    executablePath,
    headless: true,
    args: ARGS,
    // Signals belong to the program (in a notebook to the kernel); playwright still ends the browser at exit.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  for (const child of children(executablePath)) if (!before.has(child)) release(child);
  browser.on("disconnected", () => {
    running = undefined;
  });
  return browser;
}

interface Child {
  readonly spawnfile?: string;
  readonly stdio?: readonly ({ unref?: () => void } | null)[];
  unref(): void;
}

// Playwright does not hand out the browser's process, so it is picked from Node's handles by the file it runs.
function children(file: string): Child[] {
  const handles = (process as unknown as { _getActiveHandles?: () => Child[] })._getActiveHandles?.() ?? [];
  return handles.filter((handle) => handle.spawnfile === file);
}

function release(child: Child): void {
  child.unref();
  for (const pipe of child.stdio ?? []) pipe?.unref?.();
}
