/** Models behind an OpenAI-compatible server. */
export * from "./endpoint.js";
export type { Prices, Usage } from "./usage.js";
export type { Answer, Api } from "./wire.js";
