import { contracts } from "./contracts.js";
import { BRANCHING, openFixture, PLAIN } from "./models.js";

for (const architecture of [...BRANCHING, ...PLAIN]) {
  contracts(architecture, () => openFixture(architecture), 24);
}
