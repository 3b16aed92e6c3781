#!/usr/bin/env node
// Entry of the Jupyter kernel: `node kernels/start.cjs CONNECTION_FILE`, as the kernelspec says. CommonJS, since tslab
// loads the compiler and zeromq so; the kernel itself is kernels/kernel.ts, built.
const { existsSync } = require("node:fs");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");

const root = join(__dirname, "..");
const built = join(root, "dist", "kernels", "kernel.js");
if (!existsSync(built)) {
  console.error(
    `kernel: ${built} is missing; run \`npm ci && npm run build\` in ${root}, then restart the kernel`,
  );
  process.exit(1);
}
import(pathToFileURL(built).href)
  .then(({ startKernel }) => startKernel(root, process.argv[2]))
  .catch((error) => {
    console.error(error);
    process.exit(1);
  });
