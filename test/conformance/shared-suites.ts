/** The folder of suites that may not be part of the project: beside the checkout, or where TAILRACE_SHARED says. */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

const SHARED = process.env["TAILRACE_SHARED"] ?? resolve(import.meta.dirname, "../../../shared");

interface SharedFile {
  readonly path: string;
  /** Why it can't be read, where it isn't there. */
  readonly missing: string | false;
}

/** Returns the path of a file of the suites. */
export function suiteFile(...names: string[]): SharedFile {
  return sharedFile("conformance", ...names);
}

/** Returns the path of a page of what is known of other systems. */
export function referenceFile(...names: string[]): SharedFile {
  return sharedFile("reference", ...names);
}

/** Returns the path of a file of real logs. */
export function dataFile(...names: string[]): SharedFile {
  return sharedFile("data", ...names);
}

function sharedFile(folder: string, ...names: string[]): SharedFile {
  const path = join(SHARED, folder, ...names);
  const missing = existsSync(path)
    ? false
    : `no ${path}; TAILRACE_SHARED names the folder that holds ${folder}/`;
  return { path, missing };
}
