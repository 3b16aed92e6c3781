/** The process in which `runNotebook` runs a notebook's cells. */
import { type Collector, collector, type Output, type Sink } from "./outputs.js";
import type { RunEvent, RunOrder } from "./run-notebook.js";
import { createSession } from "./session.js";

const send = (event: RunEvent): void => {
  if (process.connected) process.send?.(event);
};

process.once("message", (order: RunOrder) => void run(order));
// The parent has gone, or has heard enough.
process.on("disconnect", () => process.exit(0));
send({ type: "ready" });

async function run(order: RunOrder): Promise<void> {
  const session = createSession({ root: order.root });
  const shown = new Map<string, Output[]>();
  for (const [cell, source] of order.sources.entries()) {
    send({ type: "started", cell });
    const kept = collector(cell + 1, shown);
    const error = await session.execute(source, forwarding(kept));
    if (error) {
      const { ename, evalue, traceback } = error;
      kept.outputs.push({ output_type: "error", ename, evalue, traceback });
    }
    send(
      error
        ? { type: "ended", cell, outputs: kept.outputs, error }
        : { type: "ended", cell, outputs: kept.outputs },
    );
    if (error) return;
  }
  send({ type: "done" });
}

/** Also tells the parent what is printed, as it is printed. */
function forwarding(kept: Collector): Sink {
  return {
    ...kept,
    stream(name, text) {
      kept.stream(name, text);
      send({ type: "stream", stream: name, text });
    },
  };
}
