/** Keys that all hubs of an installation share: made once, kept sealed in the state, never the same for two purposes. */

import { hkdfSync, randomBytes } from "node:crypto";
import { Records, type Store, won } from "./records.ts";
import type { Vault } from "./vault.ts";

const KEY_BYTES = 32;
const PLACE = "installation-key";

export interface InstallationKeys {
  /** Signs the provider's cookies. */
  readonly cookie: Uint8Array;
  /** Signs forms. */
  readonly form: Uint8Array;
  /** Signs the marks of browsers that signed in before. */
  readonly device: Uint8Array;
  /** The dashboard's `client_secret` at the embedded provider. */
  readonly dashboardSecret: string;
}

/** Returns the keys, made by the first hub that asks. Throws data_corrupt where the vault doesn't open them. */
export async function loadInstallationKeys(store: Store, vault: Vault): Promise<InstallationKeys> {
  const records = new Records<{ sealed: string }>(store, "installation");
  const made = vault.seal(randomBytes(KEY_BYTES).toString("base64"), PLACE);
  await won(records.create("key", { sealed: made }));
  const read = await records.get("key");
  const sealed = read?.data.sealed ?? made;
  const secret = Buffer.from(vault.open(sealed, PLACE), "base64");
  if (read !== null && vault.isOld(sealed)) {
    await won(records.update(read, { sealed: vault.seal(secret.toString("base64"), PLACE) }));
  }
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync("sha256", secret, Buffer.alloc(0), `tailrace ${purpose} v1`, KEY_BYTES));
  return {
    cookie: derive("cookie"),
    form: derive("form"),
    device: derive("device"),
    dashboardSecret: derive("dashboard client").toString("base64url"),
  };
}
