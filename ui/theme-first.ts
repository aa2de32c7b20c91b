/** Loaded before anything is painted, so that chosen looks show no flash of others. */

import { applyLooks } from "./theme.ts";

applyLooks();
