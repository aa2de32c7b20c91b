/** Looks at paths that may be gone. */

import { lstatSync, type Stats, statSync } from "node:fs";
import type { RawPath } from "./path.ts";

/** Returns the stat of what `path` leads to, or null where nothing can be seen there. */
export function statOrNull(path: RawPath): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

/** As `statOrNull`, but of a symbolic link itself. */
export function lstatOrNull(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}
