/**
 * JupyterLab in headless Chromium, driven as a user would: its server on a port of its own, a fresh profile, and the
 * application's own commands.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { labArguments, labProgram } from "../../kernels/lab.js";
import { findBrowser } from "../../src/figures/browser.js";
import { projectRoot } from "../../src/store/project-root.js";

/** A code cell as the page shows it. */
export interface ShownCell {
  readonly source: string;
  /** As in the notebook file. */
  readonly outputs: readonly { readonly output_type: string; readonly [key: string]: unknown }[];
  /** The cell's outputs as text on the page. */
  readonly text: string;
  /** Plots in its outputs, and the number of marks that each has drawn. */
  readonly plots: readonly number[];
}

export interface Lab {
  readonly page: Page;
  /** Folder of the notebooks on the server: copies, so that saving leaves the project alone. */
  readonly folder: string;
  /** Opens a notebook of the folder and waits for its kernel. */
  openNotebook(name: string): Promise<void>;
  /** Runs an application command, such as `notebook:run-all-cells`. */
  command(id: string, values?: object): Promise<void>;
  /** Waits until no cell runs or waits to run. */
  idle(milliseconds: number): Promise<void>;
  /** Makes every figure live: the renderer shows its PNG until the mouse is over it. */
  wakePlots(): Promise<void>;
  cells(): Promise<ShownCell[]>;
  /** Puts a picture of the whole notebook into `report/browser/`; returns its path. */
  picture(name: string): Promise<string>;
  /** Shuts the notebook's kernel down and closes it. */
  closeNotebook(): Promise<void>;
  close(): Promise<void>;
}

/** How long a page, a kernel or a dialogue may take; `COUNTLENS_PATIENCE` multiplies it on an overloaded machine. */
export const patience = 180_000 * Number(process.env.COUNTLENS_PATIENCE ?? 1);

export async function startLab(): Promise<Lab> {
  const home = mkdtempSync(join(tmpdir(), "countlens-lab-"));
  const folder = join(home, "notebooks");
  mkdirSync(folder);
  cpSync(join(projectRoot(), "notebooks"), folder, {
    recursive: true,
    filter: (path) => !path.includes("node_modules"),
  });
  const port = await freePort();
  const token = randomBytes(16).toString("hex");
  const server = startServer(home, folder, port, token);
  let context: BrowserContext | undefined;
  const close = async (): Promise<void> => {
    await context?.close().catch(() => undefined);
    await stopServer(server.process);
    rmSync(home, { recursive: true, force: true });
  };
  try {
    await server.answers;
    const { chromium } = await import("playwright-core");
    context = await chromium.launchPersistentContext(join(home, "profile"), {
      executablePath: findBrowser()!,
      headless: true,
      timeout: patience,
      viewport: { width: 1300, height: 1000 },
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
      ],
    });
    const page = context.pages()[0] ?? (await context.newPage());
    page.setDefaultTimeout(patience);
    return labOf(page, folder, `http://127.0.0.1:${port}`, token, close);
  } catch (error) {
    await close();
    throw new Error(`${(error as Error).message}\nserver said: ${server.said().slice(-3000)}`);
  }
}

function startServer(home: string, folder: string, port: number, token: string) {
  const settings = join(home, "settings");
  writeSettings(settings, "apputils-extension/notification", { fetchNews: "false", checkForUpdates: false });
  // Cells outside the window stay in the page, where they can be looked at.
  writeSettings(settings, "notebook-extension/tracker", { windowingMode: "none" });
  const words = [
    ...labArguments(projectRoot(), { browser: false, port: String(port), folder }),
    `--IdentityProvider.token=${token}`,
    "--ServerApp.port_retries=0",
    "--LabApp.expose_app_in_browser=True",
  ];
  const { JUPYTER_PATH: _, ...env } = process.env;
  const server = spawn(labProgram("jupyter"), words, {
    cwd: home,
    env: {
      ...env,
      HOME: home,
      JUPYTERLAB_SETTINGS_DIR: settings,
      JUPYTERLAB_WORKSPACES_DIR: join(home, "workspaces"),
      JUPYTER_CONFIG_DIR: join(home, "config"),
      JUPYTER_DATA_DIR: join(home, "data"),
      JUPYTER_RUNTIME_DIR: join(home, "runtime"),
      // The cache of models stays where it is.
      XDG_CACHE_HOME: process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? home, ".cache"),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [server.stdout, server.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString("utf8");
    });
  }
  const answers = (async () => {
    const until = Date.now() + patience;
    while (Date.now() < until) {
      if (server.exitCode !== null) throw new Error(`JupyterLab ended with ${server.exitCode}`);
      const reply = await fetch(`http://127.0.0.1:${port}/api?token=${token}`).catch(() => undefined);
      if (reply?.ok) return;
      await sleep(200);
    }
    throw new Error(`JupyterLab did not answer within ${patience / 1000} s`);
  })();
  return { process: server, answers, said: () => said };
}

function labOf(page: Page, folder: string, address: string, token: string, close: () => Promise<void>): Lab {
  const lab: Lab = {
    page,
    folder,
    close,
    async openNotebook(name) {
      await page.goto(`${address}/lab/tree/${name}?token=${token}&reset`, { waitUntil: "domcontentloaded" });
      await page.waitForFunction(() => {
        const current = (globalThis as unknown as LabWindow).jupyterapp?.shell.currentWidget;
        return current?.context?.sessionContext.session?.kernel?.status === "idle";
      });
    },
    async command(id, values = {}) {
      await page.evaluate(
        ([name, given]) => {
          // Not awaited: some commands end only with the cells they run.
          void (globalThis as unknown as LabWindow).jupyterapp!.commands.execute(
            name as string,
            given as object,
          );
        },
        [id, values],
      );
    },
    async idle(milliseconds) {
      // A moment for the requests to reach the kernel, then until no prompt shows a star.
      await sleep(500);
      await page.waitForFunction(
        () => {
          const current = (globalThis as unknown as LabWindow).jupyterapp?.shell.currentWidget;
          const prompts = Array.from(document.querySelectorAll(".jp-CodeCell .jp-InputPrompt"));
          const waiting = prompts.some((prompt) => prompt.textContent?.includes("*"));
          return !waiting && current?.context?.sessionContext.session?.kernel?.status === "idle";
        },
        undefined,
        { timeout: milliseconds, polling: 250 },
      );
    },
    async wakePlots() {
      await page.evaluate(() => {
        for (const picture of Array.from(document.querySelectorAll(".jp-RenderedPlotly .plot-img"))) {
          picture.dispatchEvent(new MouseEvent("mouseenter"));
        }
      });
      await page.waitForFunction(() =>
        Array.from(document.querySelectorAll(".jp-RenderedPlotly")).every((plot) =>
          plot.querySelector(".plot-container .main-svg"),
        ),
      );
    },
    cells: () =>
      page.evaluate(() => {
        const current = (globalThis as unknown as LabWindow).jupyterapp!.shell.currentWidget!;
        return current.content.widgets
          .filter((cell) => cell.model.type === "code")
          .map((cell) => {
            const area = cell.node.querySelector(".jp-Cell-outputArea");
            const plots = Array.from(area?.querySelectorAll(".js-plotly-plot") ?? []);
            return {
              source: cell.model.sharedModel.source,
              outputs: cell.model.outputs.toJSON(),
              text: area?.textContent ?? "",
              plots: plots.map((plot) => plot.querySelectorAll(".main-svg path, .main-svg canvas").length),
            };
          });
      }) as Promise<ShownCell[]>,
    async picture(name) {
      const pictures = join(projectRoot(), "report", "browser");
      mkdirSync(pictures, { recursive: true });
      const path = join(pictures, `${name}.png`);
      const height = await page.evaluate(() => {
        const cells = Array.from(document.querySelectorAll(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell"));
        return cells.reduce((sum, cell) => sum + cell.getBoundingClientRect().height, 200);
      });
      await page.setViewportSize({ width: 1300, height: Math.min(12_000, Math.max(700, Math.ceil(height))) });
      await page.evaluate(() => {
        for (const outer of Array.from(document.querySelectorAll(".jp-WindowedPanel-outer")))
          outer.scrollTop = 0;
      });
      await sleep(500);
      await page.screenshot({ path, timeout: patience });
      await page.setViewportSize({ width: 1300, height: 1000 });
      return path;
    },
    async closeNotebook() {
      await page.evaluate(async () => {
        const current = (globalThis as unknown as LabWindow).jupyterapp?.shell.currentWidget;
        await current?.context?.sessionContext.shutdown();
      });
      await page.goto("about:blank");
    },
  };
  return lab;
}

/** The parts of JupyterLab's application object that are used inside the page. */
interface LabWindow {
  readonly jupyterapp?: {
    readonly commands: { execute(id: string, values: object): Promise<unknown> };
    readonly shell: {
      readonly currentWidget?: {
        readonly context?: {
          readonly sessionContext: {
            readonly session?: { readonly kernel?: { readonly status: string } };
            shutdown(): Promise<void>;
          };
        };
        readonly content: {
          readonly widgets: readonly {
            readonly node: Element;
            readonly model: {
              readonly type: string;
              readonly sharedModel: { readonly source: string };
              readonly outputs: { toJSON(): ShownCell["outputs"] };
            };
          }[];
        };
      };
    };
  };
}

function writeSettings(folder: string, name: string, values: object): void {
  const [extension, plugin] = name.split("/") as [string, string];
  mkdirSync(join(folder, "@jupyterlab", extension), { recursive: true });
  writeFileSync(
    join(folder, "@jupyterlab", extension, `${plugin}.jupyterlab-settings`),
    JSON.stringify(values),
  );
}

async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGTERM");
  const force = setTimeout(() => server.kill("SIGKILL"), 20_000);
  await ended;
  clearTimeout(force);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
