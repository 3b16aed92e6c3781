/** The process in which `runNotebook` runs a notebook's cells. */
import type { Sink } from "./outputs.js";
import type { RunEvent, RunOrder } from "./run-notebook.js";
import { createSession } from "./session.js";

const send = (event: RunEvent): void => {
  if (process.connected) process.send?.(event);
};

const sink: Sink = {
  stream: (stream, text) => send({ type: "stream", stream, text }),
  display: (data, update) => send({ type: "display", data, update }),
  result: (data) => send({ type: "result", data }),
};

async function run(order: RunOrder): Promise<void> {
  const session = createSession({ root: order.root });
  for (const [cell, source] of order.sources.entries()) {
    send({ type: "started", cell });
    const error = await session.execute(source, sink);
    send(error ? { type: "ended", error } : { type: "ended" });
    if (error) return;
  }
  send({ type: "done" });
}

process.once("message", (order: RunOrder) => void run(order));
// The parent has gone, or has heard enough.
process.on("disconnect", () => process.exit(0));
send({ type: "ready" });
