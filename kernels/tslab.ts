/**
 * The parts of tslab that this project stands on, with types of their own.
 *
 * They are internal to tslab (its public interface sends one MIME type a call and has no converter), which is why
 * package.json pins its version exactly. tslab's own declarations would draw in a second copy of the compiler.
 */
import { createRequire } from "node:module";
import type { DisplayData } from "./outputs.js";

const require = createRequire(import.meta.url);

export interface Position {
  readonly offset: number;
  /** From 0. */
  readonly line: number;
  /** From 0. */
  readonly character: number;
}

export interface Diagnostic {
  readonly start: Position;
  readonly messageText: string;
  readonly code: number;
  readonly fileName?: string;
}

export interface Converted {
  readonly output?: string;
  /** Declarations of every variable alive after the cell. */
  readonly declOutput?: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly hasToplevelAwait?: boolean;
  readonly lastExpressionVar?: string;
  /** Source files of the project that the cell imports, compiled. */
  readonly sideOutputs?: readonly { readonly path: string; readonly data: string }[];
}

export interface Converter {
  convert(declarations: string, source: string): Converted;
  inspect(declarations: string, source: string, position: number): unknown;
  complete(
    declarations: string,
    source: string,
    position: number,
  ): { readonly start: number; readonly end: number; readonly candidates: string[] };
  close(): void;
}

/** What a message of the Jupyter protocol looks like inside tslab. */
export interface Message {
  readonly header: { msg_type: string; session: string };
  content: Record<string, unknown>;
  createReply(): Message;
  signAndSend(key: string, socket: unknown): void;
}

/** A socket of zeromq. */
export interface Socket {
  sendHighWaterMark: number;
  send(frames: unknown): Promise<void>;
}

export interface Server {
  readonly connInfo: { readonly key: string };
  iopub: Pick<Socket, "send">;
  shell: Pick<Socket, "send">;
  control: Pick<Socket, "send">;
  init(): Promise<void>;
  close(): void;
  publishStatus(status: string, parent: Message): void;
  handleKernelInfo(socket: unknown, message: Message): void;
  handleExecute(socket: unknown, message: Message): Promise<void>;
  handleShellMessage(socket: unknown, ...frames: Buffer[]): Promise<void>;
  handleShutdown(socket: unknown, message: Message): void;
  bindSocket(socket: Socket, port: number): Promise<void>;
}

interface Compiler {
  readonly sys: CompilerSystem;
  createWatchCompilerHost(files: string[], options: Record<string, unknown>, ...rest: unknown[]): unknown;
  transpileModule(
    source: string,
    options: { compilerOptions: Record<string, unknown> },
  ): { outputText: string; sourceMapText?: string };
}

interface CompilerSystem {
  useCaseSensitiveFileNames: boolean;
  watchFile(path: string, ...rest: unknown[]): Watcher;
  watchDirectory(path: string, ...rest: unknown[]): Watcher;
}

interface Watcher {
  close(): void;
}

/** Source maps of one compiled cell: from the cell to the module, and from the module to what runs. */
export interface CellMaps {
  readonly module: string;
  readonly script: string;
}

/** What is used of the compiler's syntax trees. */
export interface Syntax {
  readonly ScriptTarget: { readonly Latest: number };
  createSourceFile(name: string, source: string, target: number, parents: boolean): object;
  forEachChild<T>(node: unknown, visit: (child: unknown) => T | undefined): T | undefined;
  isFunctionLike(node: unknown): boolean;
  isForOfStatement(node: unknown): node is { awaitModifier?: object };
  isShorthandPropertyAssignment(node: unknown): node is { name: { end: number; text: string } };
  getLineAndCharacterOfPosition(file: object, position: number): { line: number; character: number };
}

const inlineMap = /\n?\/\/# sourceMappingURL=data:application\/json;base64,([A-Za-z0-9+/=]+)\s*$/;
const mapComment = /\n?\/\/# sourceMappingURL=\S+\s*$/;

/** Maps of the most recent compilations by what they put out. tslab compiles twice and keeps no map of either. */
const mapsByOutput = new Map<string, CellMaps>();

/**
 * A TypeScript converter of cells. Call it with the process in the folder from which cells import.
 */
export function createConverter(): Converter {
  installCompiler();
  const { createConverter: create } = require("tslab/dist/converter.js") as {
    createConverter(options: { isJS: boolean; isBrowser: boolean }): Converter;
  };
  return create({ isJS: false, isBrowser: false });
}

/** The compiler that tslab brings. */
export function syntax(): Syntax {
  return createRequire(require.resolve("tslab/dist/converter.js"))("@tslab/typescript-for-tslab") as Syntax;
}

/** Source maps of a cell's compiled code; undefined for code that was not compiled just now. */
export function takeMaps(output: string): CellMaps | undefined {
  const maps = mapsByOutput.get(output);
  mapsByOutput.clear();
  return maps;
}

/** Sets where `tslab.display` sends what it shows. */
export function setDisplay(write: (data: DisplayData, update?: boolean) => void): void {
  (require("tslab/dist/jupyter.js") as { lastWriteDisplayData: unknown }).lastWriteDisplayData = write;
}

/** The server of the Jupyter protocol, and the handler of completions and tooltips, to be extended. */
export function jupyterClasses(): {
  ZmqServer: new (handler: unknown, connectionFile: string) => Server;
  JupyterHandlerImpl: new (executor: unknown, isJavaScript: boolean) => object;
} {
  return require("tslab/dist/jupyter.js");
}

/** Puts a compiler with source maps in front of tslab's, before tslab loads it. */
function installCompiler(): void {
  const fromTslab = createRequire(require.resolve("tslab/dist/converter.js"));
  const path = fromTslab.resolve("@tslab/typescript-for-tslab");
  const original = fromTslab(path) as Compiler;
  const cached = require.cache[path];
  if (!cached || Object.hasOwn(original, "countlens")) return;
  const overriding: Partial<Compiler> & { countlens: true } = {
    countlens: true,
    sys: quietSystem(original.sys),
    createWatchCompilerHost: (files: string[], options: Record<string, unknown>, ...rest: unknown[]) =>
      // Only Node's types: with the whole of @types every cell would be checked against packages it does not use.
      original.createWatchCompilerHost(
        files,
        { ...options, inlineSourceMap: true, types: ["node"] },
        ...rest,
      ),
    transpileModule: (source: string, options: { compilerOptions: Record<string, unknown> }) => {
      const inline = inlineMap.exec(source);
      if (!inline) return original.transpileModule(source, options);
      const compiled = original.transpileModule(source.slice(0, inline.index), {
        ...options,
        compilerOptions: { ...options.compilerOptions, sourceMap: true },
      });
      const outputText = compiled.outputText.replace(mapComment, "");
      if (compiled.sourceMapText) {
        const module = Buffer.from(inline[1]!, "base64").toString("utf8");
        mapsByOutput.set(outputText, { module, script: compiled.sourceMapText });
      }
      return { ...compiled, outputText };
    },
  };
  // The compiler's own properties cannot be written to, and tslab copies own properties only: hence a new object.
  cached.exports = Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(original), ...Object.getOwnPropertyDescriptors(overriding) },
  );
}

/**
 * The compiler's view of the disk with watchers for the project's own sources only. A package that changes on disk
 * (`npm run build`, `npm install`) is not loaded again anyway, and its watchers make the converter fail for good
 * with "Unexpected pending rebuildTimer".
 */
function quietSystem(system: CompilerSystem): CompilerSystem {
  const none: Watcher = { close: () => undefined };
  const quiet = Object.create(system) as CompilerSystem;
  quiet.watchFile = (path, ...rest) =>
    /\.d\.ts$|[\\/](node_modules|dist)[\\/]|\.json$/.test(path) ? none : system.watchFile(path, ...rest);
  quiet.watchDirectory = () => none;
  return quiet;
}
