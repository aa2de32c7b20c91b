/** Layout of nats-server's store: one folder per account. */

import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { syncFolder } from "#proto/kit/files/files.ts";
import { HUB_ACCOUNT } from "./server-config.ts";

/** Account of a server without accounts, as earlier versions of the hub ran it. */
const NO_ACCOUNT = "$G";

/** Moves the streams of an earlier version's server to the hub's account. The server must not run. */
export function moveToAccount(storeDir: string): void {
  const folder = join(storeDir, "jetstream");
  const [before, own] = [join(folder, NO_ACCOUNT), join(folder, HUB_ACCOUNT)];
  if (!existsSync(before) || existsSync(own)) return;
  renameSync(before, own);
  syncFolder(folder);
}
