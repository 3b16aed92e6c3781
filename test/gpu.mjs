// `npm run test:gpu`: the engine's contracts with every layer on the GPU that node-llama-cpp chooses.
import { spawnSync } from "node:child_process";

const files = ["contracts-fixtures", "contracts-real", "sharing", "control-vector", "generate"];
const { status } = spawnSync(
  process.execPath,
  ["node_modules/vitest/vitest.mjs", "run", ...files.map((name) => `test/engine/${name}.test.ts`)],
  { stdio: "inherit", env: { ...process.env, COUNTLENS_TEST_GPU: "auto" } },
);
process.exitCode = status ?? 1;
