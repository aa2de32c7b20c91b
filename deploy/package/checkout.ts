/**
 * Bundles agent and hub for the checkout that contains them: their launchers take the bundles while no source is newer.
 * Thousands of modules cost the hub a second at each start, and the agent more memory than its limit of 128 MB.
 */

import { join } from "node:path";
import { ignoreClosedOutput } from "#proto/kit/process/standard-output.ts";
import { bundleAgent } from "./agent-bundle.ts";
import { bundleHub, HUB_BUNDLE } from "./hub-bundle.ts";
import { ROOT } from "./project.ts";

ignoreClosedOutput();
await bundleAgent({ outfile: join(ROOT, "agent/dist/main.mjs"), native: "packages" });
await bundleHub(join(ROOT, HUB_BUNDLE));
