import { defineConfig } from "vitest/config";

// Native code is tested in forked workers, one at a time: ggml's barriers spin, so two engines on the same
// cores slow each other down many times over.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 60_000,
    // The first test that wants a model of the catalogue also fetches it.
    hookTimeout: 900_000,
  },
});
