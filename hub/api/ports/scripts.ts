/** Port of the search interface to stored scripts. */

import type { StoredScript } from "#hub/scripts/script.ts";

/** Scripts and search templates that requests name by id. */
export interface StoredScripts {
  get(id: string): StoredScript | undefined;
  /** `context`: what the script is for; without one only its syntax is checked. Throws request_invalid, script_failed. */
  put(id: string, script: unknown, context: string | undefined): Promise<void>;
  /** Returns false where there is none of that id. */
  delete(id: string): Promise<boolean>;
}
