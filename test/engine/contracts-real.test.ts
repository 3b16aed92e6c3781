import { contracts } from "./contracts.js";
import { openReal, REAL } from "./models.js";

// The same contracts on trained, quantised weights. Short prompts: every layer and hook point has runs of its own.
for (const name of REAL) contracts(name, () => openReal(name), 6);
