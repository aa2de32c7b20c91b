/** The folder of suites that may not be part of the project: beside the checkout, or where TAILRACE_SHARED says. */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

const SHARED = process.env["TAILRACE_SHARED"] ?? resolve(import.meta.dirname, "../../../shared");

/** Returns the path of a file of the suites, and why it can't be read where it isn't there. */
export function suiteFile(...names: string[]): { readonly path: string; readonly missing: string | false } {
  return found("conformance", names);
}

/** Returns the path of a file of real logs, and why it can't be read where it isn't there. */
export function dataFile(...names: string[]): { readonly path: string; readonly missing: string | false } {
  return found("data", names);
}

function found(folder: string, names: readonly string[]): { path: string; missing: string | false } {
  const path = join(SHARED, folder, ...names);
  const missing = existsSync(path)
    ? false
    : `no ${path}; TAILRACE_SHARED names the folder that holds ${folder}/`;
  return { path, missing };
}
