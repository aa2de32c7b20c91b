/** Port of the search interface to stored scripts. */

import type { StoredScript } from "#hub/scripts/script.ts";

/** Scripts and search templates that requests name by id. */
export interface StoredScripts {
  get(id: string): StoredScript | undefined;
  /** Stores a script. `context`: its use; without one only its syntax is checked. Throws request_invalid, script_failed. */
  put(id: string, script: unknown, context: string | undefined): Promise<void>;
  /** Returns false if no script has this id. */
  delete(id: string): Promise<boolean>;
}
