/**
 * Files of the embedded nats-server: its store with one folder per account, its token, and the file to which it
 * writes its port once it accepts connections.
 */

import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, watch } from "node:fs";
import { join } from "node:path";
import { systemCode } from "#proto/kit/errors.ts";
import { syncFolder, writeFileAtomic } from "#proto/kit/files/files.ts";
import { HUB_ACCOUNT } from "./server-config.ts";

/** Account of a server without accounts, which earlier versions of the hub ran. */
const NO_ACCOUNT = "$G";

/** Moves the streams of an earlier version's server to the hub's account. The server must not run. */
export function moveToAccount(storeDir: string): void {
  const folder = join(storeDir, "jetstream");
  const [before, own] = [join(folder, NO_ACCOUNT), join(folder, HUB_ACCOUNT)];
  if (!existsSync(before) || existsSync(own)) return;
  renameSync(before, own);
  syncFolder(folder);
}

/** Long enough to prevent guessing. */
const TOKEN_BYTES = 24;

/**
 * Returns the token in the file `path`. It is created at the first start and survives restarts, so agents keep theirs.
 * `given`: the token that the file must contain.
 */
export function keptToken(path: string, given?: string): string {
  try {
    const kept = readFileSync(path, "utf8").trim();
    if (kept !== "" && (given === undefined || kept === given)) return kept;
    rmSync(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
  const token = given ?? randomBytes(TOKEN_BYTES).toString("base64url");
  writeFileAtomic(path, `${token}\n`, 0o600);
  return token;
}

/** Creates an empty folder for the file; removes files that killed servers left. */
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
