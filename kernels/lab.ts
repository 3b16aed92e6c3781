/** `npm run lab`: JupyterLab in a local virtual environment, with the project's kernel, on this machine only. */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type CommandOutput, runAsCommand } from "../src/store/command.js";
import { projectRoot } from "../src/store/project-root.js";

const usage = `npm run lab [-- options]

  --install-only   make the environment and install the kernel, start nothing
  --no-browser     start JupyterLab without opening a browser
  --port N         port (default: a free one from 8888)`;

/** Folder of the virtual environment. */
export const labFolder = (root: string = projectRoot()): string => join(root, "kernels", "lab-venv");

/** A program of the environment: `python`, `jupyter`. */
export function labProgram(name: string, root: string = projectRoot()): string {
  return process.platform === "win32"
    ? join(labFolder(root), "Scripts", `${name}.exe`)
    : join(labFolder(root), "bin", name);
}

/**
 * Makes the environment where there is none, or where the list of packages has changed, and installs the kernel with
 * this Node and this folder. A second call takes no time. Throws one line where Python or its venv module is missing.
 */
export function installLab(log: (line: string) => void, root: string = projectRoot()): void {
  const folder = labFolder(root);
  const python = labProgram("python", root);
  const stamp = join(folder, "countlens.stamp");
  const wanted = packagesDigest(root);
  const current = existsSync(stamp) && existsSync(python) ? readFileSync(stamp, "utf8") : "";
  if (current !== wanted) {
    const system = systemPython();
    log(`lab: installing JupyterLab into ${folder} (once, about a minute)`);
    must(
      system,
      ["-m", "venv", folder],
      "lab: python3 has no venv module; on Debian: apt-get install python3-venv",
    );
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    const failed =
      "lab: pip could not install the packages; see its message above, then run npm run lab again";
    must(python, [...pip, "-r", join(root, "kernels", "requirements.txt")], failed);
    installTranslator(python, root);
    // The project's package.json makes scripts below it ES modules; JupyterLab's are not.
    writeFileSync(join(folder, "package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);
    writeFileSync(stamp, wanted);
  }
  installKernel(root);
}

/** Writes the kernelspec into the environment. */
export function installKernel(root: string = projectRoot()): void {
  const template = readFileSync(join(root, "kernels", "countlens", "kernel.json"), "utf8");
  const spec = JSON.parse(template) as { argv: string[] };
  const argv = spec.argv.map((word) => word.replace("{node}", process.execPath).replace("{root}", root));
  const folder = join(labFolder(root), "share", "jupyter", "kernels", "countlens");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "kernel.json"), `${JSON.stringify({ ...spec, argv }, null, 2)}\n`);
}

export interface LabOptions {
  /** Opens a browser. */
  readonly browser: boolean;
  readonly port?: string;
  /** Folder of notebooks that JupyterLab shows. Default: the project's. */
  readonly folder?: string;
}

/** Arguments of `jupyter lab`, reachable from this machine only. */
export function labArguments(root: string, options: LabOptions): string[] {
  return [
    "lab",
    "--ServerApp.ip=127.0.0.1",
    `--ServerApp.root_dir=${options.folder ?? join(root, "notebooks")}`,
    "--MultiKernelManager.default_kernel_name=countlens",
    ...(process.getuid?.() === 0 ? ["--allow-root"] : []),
    ...(options.browser ? [] : ["--no-browser"]),
    ...(options.port === undefined ? [] : [`--ServerApp.port=${options.port}`]),
  ];
}

async function labCommand(argv: readonly string[], out: CommandOutput): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      "install-only": { type: "boolean" },
      "no-browser": { type: "boolean" },
      port: { type: "string" },
      help: { type: "boolean" },
    },
  });
  if (values.help) {
    out.line(usage);
    return 0;
  }
  const { port } = values;
  if (port !== undefined && !(Number(port) > 0 && Number(port) < 65_536)) {
    throw new Error(`lab: --port ${port}; expected 1 to 65535`);
  }
  const root = projectRoot();
  installLab((line) => out.line(line), root);
  if (values["install-only"]) {
    out.line(`lab: ready; npm run lab starts it`);
    return 0;
  }
  const options = { browser: !values["no-browser"], ...(port === undefined ? {} : { port }) };
  const server = spawn(labProgram("jupyter", root), labArguments(root, options), {
    stdio: "inherit",
    cwd: root,
  });
  // Jupyter asks on Ctrl-C whether to stop, and may be told no, more than once; this process waits for its answer.
  process.on("SIGINT", () => undefined);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.once("exit", (code) => resolve(code ?? 1));
  });
}

/**
 * Lets papermill write parameters into TypeScript cells. It loads what other packages name as engines, so the module is
 * put beside them with the metadata of a package; pip would need a build tool from the network for that.
 */
function installTranslator(python: string, root: string): void {
  const ask = "import sysconfig; print(sysconfig.get_path('purelib'))";
  const packages = spawnSync(python, ["-c", ask], { encoding: "utf8" }).stdout.trim();
  const module = "countlens_papermill";
  copyFileSync(join(root, "kernels", `${module}.py`), join(packages, `${module}.py`));
  const metadata = join(packages, `${module}-0.1.0.dist-info`);
  mkdirSync(metadata, { recursive: true });
  writeFileSync(
    join(metadata, "METADATA"),
    "Metadata-Version: 2.1\nName: countlens-papermill\nVersion: 0.1.0\n",
  );
  writeFileSync(join(metadata, "entry_points.txt"), `[papermill.engine]\ncountlens = ${module}:Engine\n`);
  const record = ["METADATA", "entry_points.txt", "RECORD"].map(
    (file) => `${module}-0.1.0.dist-info/${file},,\n`,
  );
  writeFileSync(join(metadata, "RECORD"), `${module}.py,,\n${record.join("")}`);
}

function systemPython(): string {
  for (const name of process.platform === "win32" ? ["python", "py"] : ["python3", "python"]) {
    const check = "import sys; sys.exit(sys.version_info < (3, 9))";
    if (spawnSync(name, ["-c", check], { stdio: "ignore" }).status === 0) return name;
  }
  throw new Error("lab: no python3 (3.9 or newer) found; install Python, then run npm run lab again");
}

function must(program: string, words: string[], failure: string): void {
  if (spawnSync(program, words, { stdio: ["ignore", "inherit", "inherit"] }).status !== 0)
    throw new Error(failure);
}

function packagesDigest(root: string): string {
  const digest = createHash("sha256");
  for (const file of ["requirements.txt", "countlens_papermill.py"])
    digest.update(readFileSync(join(root, "kernels", file)));
  return digest.digest("hex");
}

runAsCommand(import.meta.url, labCommand);
