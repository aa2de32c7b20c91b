/**
 * Bundles the agent for the checkout it lies in: its launcher takes the bundle while no source is newer. Hundreds of
 * modules cost more memory than what is in them, and the agent has 128 MB.
 */

import { join } from "node:path";
import { bundleAgent } from "./agent-bundle.ts";
import { ROOT } from "./project.ts";

await bundleAgent({ outfile: join(ROOT, "agent/dist/main.mjs"), native: "packages" });
