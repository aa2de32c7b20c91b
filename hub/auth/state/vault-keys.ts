/** Loads the vault's keys from the environment or from a file that only its owner can read. */

import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import { newId } from "./secrets.ts";

const KEY_BYTES = 32;
const ID = /^[A-Za-z0-9_-]{1,32}$/;
/** No rights for group and others. */
const FOREIGN_RIGHTS = 0o077;

export interface VaultKey {
  readonly id: string;
  /** 32 bytes. */
  readonly secret: Buffer;
}

/**
 * Returns the key ring: `TAILRACE_VAULT_KEYS` ("id:base64 id:base64 …", the first one seals) or the lines of `path`.
 * A missing file is created with a new key, but only where `mayCreate` returns true: nothing is sealed yet.
 * Throws settings_invalid.
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

/** A new key is of no use where secrets are sealed. */
const RESTORE =
  'restore the keys from a backup, as secrets are sealed with them; for a first key write <id>: and the output of "openssl rand -base64 32"';

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
        `${origin}: entry ${index + 1} is no vault key, <id>:<32 bytes as base64>; ${RESTORE}`,
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
