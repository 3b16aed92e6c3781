/** How many layers go to the GPU: node-llama-cpp estimates what fits its free memory, with its safety margins. */
import type { Backend } from "./backend.js";

/**
 * @returns layers to offload; 0 without a GPU
 * @throws when not even a part of the model fits
 */
export async function fittingGpuLayers(path: string, backend: Backend): Promise<number> {
  if (backend.gpu === false) return 0;
  const { getLlama, GgufInsights, LlamaLogLevel, readGgufFileInfo } = await import("node-llama-cpp");
  const llama = await getLlama({
    gpu: backend.gpu,
    build: "never",
    skipDownload: true,
    logLevel: LlamaLogLevel.disabled,
  });
  try {
    const insights = await GgufInsights.from(await readGgufFileInfo(path), llama);
    const { gpuLayers } = await insights.configurationResolver.resolveModelGpuLayersV2("auto", {
      // As this engine makes its contexts: they need more memory than the defaults of most programs.
      defaultContextFlashAttention: false,
      defaultContextSwaFullCache: true,
    });
    return gpuLayers;
  } finally {
    await llama.dispose();
  }
}
