/** `npm run bench -- NAME [options]`: prints one JSON line a figure. Without a name, lists the benchmarks. */
import type { Bench } from "./line.js";

const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  capture: () => import("./capture.js"),
  forest: () => import("./forest.js"),
  patch: () => import("./patch.js"),
  zeh: () => import("./zeh.js"),
  isolation: () => import("./isolation.js"),
  regressions: () => import("./regressions.js"),
  sae: () => import("./sae.js"),
};

async function main([name, ...args]: string[]): Promise<number> {
  const load = name === undefined ? undefined : BENCHES[name];
  if (load === undefined) {
    console.error(`bench: ${name ?? "no name"}; expected one of ${Object.keys(BENCHES).join(", ")}`);
    return 2;
  }
  const bench = await load();
  await bench.run((line) => console.log(JSON.stringify(line)), args);
  return 0;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  },
);
