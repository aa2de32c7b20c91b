/** The file to which nats-server writes its port once it accepts connections. */

import { mkdirSync, readFileSync, rmSync, watch } from "node:fs";
import { join } from "node:path";

/** Creates an empty folder for the file, without what killed servers left. */
export function preparePortsFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
}

/**
 * Resolves with the port of the server `pid` once it accepts connections. Rejects with the reason of `signal` when
 * that is aborted first.
 */
export async function waitForPort(folder: string, pid: number, signal: AbortSignal): Promise<number> {
  const path = join(folder, `nats-server_${pid}.ports`);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const look = (): void => {
    const port = readPort(path);
    if (port !== undefined) resolve(port);
  };
  const abort = (): void => reject(signal.reason);
  const watcher = watch(folder, look);
  watcher.on("error", reject);
  signal.addEventListener("abort", abort, { once: true });
  try {
    if (signal.aborted) abort();
    look(); // it may have been written before the watch began
    return await promise;
  } finally {
    watcher.close();
    signal.removeEventListener("abort", abort);
  }
}

function readPort(path: string): number | undefined {
  try {
    const { nats } = JSON.parse(readFileSync(path, "utf8")) as { nats: string[] };
    return Number(new URL(nats[0]!).port);
  } catch {
    return undefined; // missing or incomplete
  }
}
