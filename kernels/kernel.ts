/**
 * The Jupyter kernel. tslab's server speaks the protocol; what it lacks is here: real error messages, cells that wait
 * their turn and are aborted after a failure as Jupyter means it, and a SIGINT that belongs to the kernel alone.
 */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { CellError, Sink } from "./outputs.js";
import { createSession, type Session } from "./session.js";
import { jupyterClasses, type Message, type Server, type Socket } from "./tslab.js";

/** How long requests that a client sent before it could know of a failure may take to arrive. */
const drainMs = 50;
const parentPollMs = 1000;
/** Time for the last messages to go out. */
const lastMessagesMs = 100;

/** Runs the kernel on Jupyter's connection file, in the folder `root`, until it is shut down. */
export async function startKernel(root: string, connectionFile: string | undefined): Promise<void> {
  if (connectionFile === undefined || !existsSync(connectionFile)) {
    throw new Error(
      `kernel: connection file ${connectionFile ?? "not given"}; Jupyter starts the kernel with one: npm run lab`,
    );
  }
  const session = createSession({ root, stopLoopsOnSigint: true });
  process.on("SIGINT", () => session.interrupt());
  endWithParent();
  await createServer(session, connectionFile).init();
}

function createServer(session: Session, connectionFile: string): Server {
  const { ZmqServer, JupyterHandlerImpl } = jupyterClasses();
  const executor = { inspect: session.inspect, complete: session.complete, close: session.close };

  class KernelServer extends ZmqServer {
    private turn: Promise<void> = Promise.resolve();
    /** Requests that came before this one's failure was known are not run. */
    private aborting = false;
    private busy: Message | undefined;

    override bindSocket(socket: Socket, port: number): Promise<void> {
      // Unlimited: at zeromq's default a cell that prints much would lose lines.
      socket.sendHighWaterMark = 0;
      return super.bindSocket(socket, port);
    }

    override async init(): Promise<void> {
      await super.init();
      // What is sent goes through these; zeromq's own objects go on receiving.
      for (const name of ["iopub", "shell", "control"] as const) this[name] = { send: inTurn(this[name]) };
    }

    override async handleShellMessage(socket: unknown, ...frames: Buffer[]): Promise<void> {
      await super.handleShellMessage(socket, ...frames);
      // A completion answered while a cell runs must not make the kernel look idle.
      if (this.busy) this.publishStatus("busy", this.busy);
    }

    override async handleExecute(socket: unknown, message: Message): Promise<void> {
      const before = this.turn;
      let done: () => void = () => undefined;
      this.turn = new Promise((resolve) => {
        done = resolve;
      });
      try {
        await before;
        await this.runRequest(socket, message);
      } finally {
        done();
      }
    }

    private async runRequest(socket: unknown, message: Message): Promise<void> {
      const request = message.content as { code: string; silent?: boolean; stop_on_error?: boolean };
      if (this.aborting) {
        this.reply(socket, message, { status: "aborted" });
        return;
      }
      this.busy = message;
      this.publishStatus("busy", message);
      if (!request.silent) {
        this.publish(message, "execute_input", {
          code: request.code,
          execution_count: session.executions + 1,
        });
      }
      const error = await session.execute(request.code, this.sinkOf(message));
      this.busy = undefined;
      const execution_count = session.executions;
      if (!error) {
        this.reply(socket, message, { status: "ok", execution_count, payload: [], user_expressions: {} });
        return;
      }
      const { ename, evalue, traceback }: CellError = error;
      this.publish(message, "error", { ename, evalue, traceback });
      if (request.stop_on_error ?? true) await this.abortWaiting();
      this.reply(socket, message, { status: "error", execution_count, ename, evalue, traceback });
    }

    /** Refuses what is queued. The failed request is answered only afterwards, so that no later one is refused. */
    private async abortWaiting(): Promise<void> {
      this.aborting = true;
      await sleep(drainMs);
      // Those that wait have this request's turn to wait for: let them pass, refused, once it is over.
      void this.turn.then(() => {
        this.aborting = false;
      });
    }

    private sinkOf(message: Message): Sink {
      return {
        stream: (name, text) => this.publish(message, "stream", { name, text }),
        display: (data, update) =>
          this.publish(message, update ? "update_display_data" : "display_data", {
            data: data.data,
            metadata: data.metadata ?? {},
            transient: data.transient ?? {},
          }),
        result: (data) =>
          this.publish(message, "execute_result", {
            data,
            metadata: {},
            execution_count: session.executions,
          }),
      };
    }

    private publish(parent: Message, type: string, content: Record<string, unknown>): void {
      this.send(this.iopub, parent, type, content);
    }

    private reply(socket: unknown, parent: Message, content: Record<string, unknown>): void {
      this.send(socket, parent, "execute_reply", content);
    }

    private send(socket: unknown, parent: Message, type: string, content: Record<string, unknown>): void {
      const message = parent.createReply();
      message.header.msg_type = type;
      message.content = content;
      message.signAndSend(this.connInfo.key, socket);
    }

    /** Ends the process, and with it the engines and browsers that cells have opened. */
    override close(): void {
      setTimeout(() => process.exit(0), lastMessagesMs);
    }
  }
  return new KernelServer(new JupyterHandlerImpl(executor, false), connectionFile);
}

/**
 * A socket's `send` for any number of messages at once. zeromq sends most of them on the spot, but now and then puts one off, and
 * refuses others until that one is gone (they would be lost); those wait here for their turn.
 */
function inTurn(socket: Pick<Socket, "send">): Socket["send"] {
  const send = (frames: unknown): Promise<void> => socket.send(frames);
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  const later = (frames: unknown): Promise<void> => {
    waiting++;
    last = last
      .then(() => send(frames))
      .catch(() => undefined)
      .finally(() => {
        waiting--;
      });
    return last;
  };
  return (frames) => {
    if (waiting > 0) return later(frames);
    try {
      last = send(frames).catch(() => undefined);
      return last;
    } catch {
      return later(frames);
    }
  };
}

/** A kernel whose Jupyter server was killed ends too, instead of holding memory for ever. */
function endWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1);
  }, parentPollMs).unref();
}
