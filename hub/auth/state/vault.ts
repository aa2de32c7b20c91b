/**
 * The vault: seals secrets with AES-256-GCM. A sealed text is `v1.<key id>.<iv>.<ciphertext>.<tag>` (base64url); the
 * name of the record it belongs to is authenticated with it, so a sealed text can't be moved to another record. Its
 * keys come from the environment or from a file that only its owner can read.
 */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import { Records, type Store, won } from "./records.ts";
import { newId } from "./secrets.ts";

const ID = /^[A-Za-z0-9_-]{1,32}$/;
/** No rights for group and others. */
const FOREIGN_RIGHTS = 0o077;

interface VaultKey {
  readonly id: string;
  /** 32 bytes. */
  readonly secret: Buffer;
}

/** A new key can't open secrets that are already sealed. */
const RESTORE =
  'restore the keys from a backup, as secrets are sealed with them; for a first key write <id>: and the output of "openssl rand -base64 32"';

const VERSION = "v1";
/** NIST SP 800-38D section 8.2: 96 random bits. */
const IV_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";
/** Content of the check record. */
const CHECK_TEXT = "tailrace vault";
const CHECK_PLACE = "vault-check";

/** Seals with the first key of a key ring and opens with any of its keys. */
export class Vault {
  readonly #keys = new Map<string, Buffer>();
  readonly #activeId: string;

  /** Throws settings_invalid if `ring` is empty. */
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

  /** Returns `text` sealed for `context` ("account:…"). */
  seal(text: string, context: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#keys.get(this.#activeId)!, iv, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    const parts = [iv, sealed, cipher.getAuthTag()].map((part) => part.toString("base64url"));
    return [VERSION, this.#activeId, ...parts].join(".");
  }

  /**
   * Returns the text. Throws data_corrupt naming the key if the key is unknown or wrong, or if the text was changed or
   * moved.
   */
  open(sealed: string, context: string): string {
    const [version, id = "", iv = "", ciphertext = "", tag = ""] = sealed.split(".");
    const key = this.#keys.get(id);
    if (version !== VERSION || key === undefined) {
      throw new AppError(
        "data_corrupt",
        `a secret of ${context} is sealed with vault key "${id}", which this hub does not have`,
      );
    }
    try {
      const decipher = createDecipheriv(CIPHER, key, Buffer.from(iv, "base64url"), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(Buffer.from(tag, "base64url"));
      return (
        decipher.update(Buffer.from(ciphertext, "base64url"), undefined, "utf8") + decipher.final("utf8")
      );
    } catch (cause) {
      const message = `vault key "${id}" doesn't open a secret of ${context}: another key has its name, or the record was changed`;
      throw new AppError("data_corrupt", message, { cause });
    }
  }

  /** Returns true if a sealed text should be resealed with the active key. */
  isOld(sealed: string): boolean {
    return sealed.split(".")[1] !== this.#activeId;
  }

  /** Returns true if a sealed text needs a key that isn't in the ring. */
  lacksKeyFor(sealed: string): boolean {
    return !this.#keys.has(sealed.split(".")[1] ?? "");
  }
}

interface Check {
  readonly sealed: string;
}

/**
 * Verifies that the vault opens what was sealed before, so that a wrong key fails the start of the hub. The first hub
 * writes the proof; a new active key renews it. Throws settings_invalid naming the missing key.
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
      `the vault's key "${id}" is missing, or differs from the one the state was sealed with; restore it in TAILRACE_VAULT_KEYS or in the key file (auth.vault.key_file)`,
      { cause },
    );
  }
  if (!vault.isOld(found.data.sealed)) return "known";
  await won(records.update(found, proof));
  return "renewed";
}

/** Returns true if this state holds a sealed text, so that no new key may be generated. */
export async function hasSealed(store: Store): Promise<boolean> {
  return (await new Records<Check>(store, "vault").get("check")) !== null;
}

const KEY_BYTES = 32;
const PLACE = "installation-key";

export interface InstallationKeys {
  /** Signs the provider's cookies. */
  readonly cookie: Uint8Array;
  /** Signs forms. */
  readonly form: Uint8Array;
  /** Seals sign-ins that are under way. */
  readonly flow: Uint8Array;
  /** Signs the marks of browsers that signed in before. */
  readonly device: Uint8Array;
  /** The dashboard's `client_secret` at the embedded provider. */
  readonly dashboardSecret: string;
}

/** Returns the installation's keys, which the first hub generates. Throws data_corrupt if the vault doesn't open them. */
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
    flow: derive("flow"),
    device: derive("device"),
    dashboardSecret: derive("dashboard client").toString("base64url"),
  };
}

/**
 * Returns the key ring: `TAILRACE_VAULT_KEYS` ("id:base64 id:base64 …", the first one seals) or the lines of `path`. A
 * missing file is created with a new key, but only if `mayCreate` returns true: nothing is sealed yet. Throws
 * settings_invalid.
 */
export async function loadVaultKeys(
  path: string,
  env: NodeJS.ProcessEnv,
  mayCreate: () => Promise<boolean>,
): Promise<VaultKey[]> {
  const text = env["TAILRACE_VAULT_KEYS"];
  if (text !== undefined && text.trim() !== "") return parseVaultKeys(text, "TAILRACE_VAULT_KEYS");
  const found = readKeyFile(path);
  if (found !== null) return parseVaultKeys(found, path);
  if (!(await mayCreate())) {
    throw new AppError(
      "settings_invalid",
      `vault key file ${path} is missing, but secrets are sealed already; put the file back, copy vault.keys from another hub of the cluster, or set TAILRACE_VAULT_KEYS`,
    );
  }
  const line = `${newId()}:${randomBytes(KEY_BYTES).toString("base64")}\n`;
  writeFileAtomic(path, line, 0o600);
  return parseVaultKeys(line, path);
}

/** Parses "id:base64" entries between blanks or commas. Throws settings_invalid naming `origin`, never the keys. */
export function parseVaultKeys(text: string, origin: string): VaultKey[] {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== "");
  const keys = entries.map((entry, index) => {
    const at = entry.indexOf(":");
    const id = entry.slice(0, Math.max(0, at));
    const secret = Buffer.from(entry.slice(at + 1), "base64");
    if (!ID.test(id) || secret.length !== KEY_BYTES) {
      throw new AppError(
        "settings_invalid",
        `${origin}: entry ${index + 1} isn't a vault key, <id>:<32 bytes as base64>; ${RESTORE}`,
      );
    }
    return { id, secret };
  });
  if (keys.length === 0) throw new AppError("settings_invalid", `${origin} holds no vault key; ${RESTORE}`);
  if (new Set(keys.map(({ id }) => id)).size !== keys.length) {
    throw new AppError("settings_invalid", `${origin}: two vault keys have the same id`);
  }
  return keys;
}

function readKeyFile(path: string): string | null {
  try {
    const { mode } = statSync(path);
    if ((mode & FOREIGN_RIGHTS) !== 0) {
      throw new AppError(
        "settings_invalid",
        `vault key file ${path} can be read by others; run chmod 600 ${path}`,
      );
    }
    return readFileSync(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    if (error instanceof AppError) throw error;
    throw new AppError(
      "settings_invalid",
      `vault key file ${path} can't be read: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}
