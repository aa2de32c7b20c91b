/** A worker of the pipeline that ends once, in the middle of its work. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const WORKER = new URL("../../fixtures/exiting-pipeline-worker.ts", import.meta.url);

/**
 * Returns the script of such a worker, a file in `folder`, and the file that says that it ended. The script sets the variable
 * in its own thread: tests of one process share their environment.
 */
export function exitingWorker(folder: string): { readonly script: URL; readonly mark: string } {
  const mark = join(folder, "died");
  const path = join(folder, "exiting-worker.mjs");
  const lines = [
    `process.env.TAILRACE_DYING = ${JSON.stringify(mark)};`,
    `await import(${JSON.stringify(WORKER.href)});`,
  ];
  writeFileSync(path, lines.join("\n"));
  return { script: pathToFileURL(path), mark };
}
