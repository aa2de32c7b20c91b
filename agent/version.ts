/** The agent's versions. */

import manifest from "../package.json" with { type: "json" };

/** Of Tailrace. */
export const VERSION = manifest.version;
/** Of the shipper interface that receivers know, for compatibility. */
export const SHIPPER_VERSION = "6.5.0";
