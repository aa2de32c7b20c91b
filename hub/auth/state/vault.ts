/**
 * The vault: seals secrets with AES-256-GCM. A sealed text is `v1.<key id>.<iv>.<ciphertext>.<tag>` (base64url); the
 * place it belongs to is authenticated with it, so a sealed text moved elsewhere doesn't open.
 */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { AppError } from "#proto/kit/errors.ts";
import { Records, type Store, won } from "./records.ts";
import type { VaultKey } from "./vault-keys.ts";

const VERSION = "v1";
/** NIST SP 800-38D section 8.2: 96 random bits. */
const IV_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";
/** What the check record seals. */
const CHECK_TEXT = "tailrace vault";
const CHECK_PLACE = "vault-check";

/** Seals and opens with a ring of keys: the first seals, all open. */
export class Vault {
  readonly #keys = new Map<string, Buffer>();
  readonly #activeId: string;

  /** Throws settings_invalid where `ring` is empty. */
  constructor(ring: readonly VaultKey[]) {
    const [active] = ring;
    if (active === undefined) throw new AppError("settings_invalid", "the vault has no key");
    this.#activeId = active.id;
    for (const { id, secret } of ring) {
      const key = hkdfSync("sha256", secret, Buffer.alloc(0), "tailrace vault v1", 32);
      this.#keys.set(id, Buffer.from(key));
    }
  }

  /** Id of the key that seals. */
  get activeId(): string {
    return this.#activeId;
  }

  /** Returns `text` sealed for `place` ("account:…"). */
  seal(text: string, place: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#keys.get(this.#activeId)!, iv, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(place));
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    const parts = [iv, sealed, cipher.getAuthTag()].map((part) => part.toString("base64url"));
    return [VERSION, this.#activeId, ...parts].join(".");
  }

  /** Returns the text. Throws data_corrupt naming the key where it is unknown, wrong, or the text was changed or moved. */
  open(sealed: string, place: string): string {
    const [version, id = "", iv = "", ciphertext = "", tag = ""] = sealed.split(".");
    const key = this.#keys.get(id);
    if (version !== VERSION || key === undefined) {
      throw new AppError(
        "data_corrupt",
        `a secret of ${place} is sealed with vault key "${id}", which isn't known here`,
      );
    }
    try {
      const decipher = createDecipheriv(CIPHER, key, Buffer.from(iv, "base64url"), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(Buffer.from(tag, "base64url"));
      return (
        decipher.update(Buffer.from(ciphertext, "base64url"), undefined, "utf8") + decipher.final("utf8")
      );
    } catch (cause) {
      const message = `vault key "${id}" doesn't open a secret of ${place}: another key has its name, or the record was changed`;
      throw new AppError("data_corrupt", message, { cause });
    }
  }

  /** Returns true where a sealed text should be sealed anew with the active key. */
  isOld(sealed: string): boolean {
    return sealed.split(".")[1] !== this.#activeId;
  }

  /** Returns true where a sealed text needs a key that isn't in the ring. */
  lacksKeyFor(sealed: string): boolean {
    return !this.#keys.has(sealed.split(".")[1] ?? "");
  }
}

interface Check {
  readonly sealed: string;
}

/**
 * Proves that the vault opens what was sealed before, so that a wrong key is found at the start and not at night.
 * The first hub writes the proof; a new active key renews it. Throws settings_invalid naming the key that lacks.
 */
export async function checkVault(store: Store, vault: Vault): Promise<"first" | "known" | "renewed"> {
  const records = new Records<Check>(store, "vault");
  const proof: Check = { sealed: vault.seal(CHECK_TEXT, CHECK_PLACE) };
  const found = await records.get("check");
  if (found === null) {
    return (await won(records.create("check", proof))) ? "first" : checkVault(store, vault);
  }
  try {
    vault.open(found.data.sealed, CHECK_PLACE);
  } catch (cause) {
    const id = found.data.sealed.split(".")[1];
    throw new AppError(
      "settings_invalid",
      `the vault's key "${id}" lacks or is another one than the state was sealed with; give it back in TAILRACE_VAULT_KEYS or in the key file (auth.vault.key_file)`,
      { cause },
    );
  }
  if (!vault.isOld(found.data.sealed)) return "known";
  await won(records.update(found, proof));
  return "renewed";
}

/** Returns true where something was sealed in this state before, so that no new key may be made. */
export async function hasSealed(store: Store): Promise<boolean> {
  return (await new Records<Check>(store, "vault").get("check")) !== null;
}
