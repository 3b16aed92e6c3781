// Loaded into an engine's process before its program: llama_decode calls ggml's own abort, the one behind GGML_ASSERT, as long
// as the file named by COUNTLENS_TEST_ABORT exists.
import { existsSync } from "node:fs";
import { basename } from "node:path";
import koffi from "koffi";

const load = koffi.load;
let abort;
koffi.load = (path, ...rest) => {
  const library = load(path, ...rest);
  const name = basename(path ?? "");
  if (name.includes("ggml-base"))
    abort = library.func("void ggml_abort(const char *file, int line, const char *format, ...)");
  if (!name.includes("llama")) return library;
  return {
    symbol: (...parts) => library.symbol(...parts),
    func(wanted, ...signature) {
      const real = library.func(wanted, ...signature);
      if (wanted !== "llama_decode") return real;
      return (...args) => {
        if (existsSync(process.env.COUNTLENS_TEST_ABORT ?? ""))
          abort("test.cpp", 1, "GGML_ASSERT(forced by a test) failed");
        return real(...args);
      };
    },
  };
};
