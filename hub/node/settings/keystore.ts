/**
 * The keystore: secrets that pipelines reference as `${NAME}`. A file in the data folder, readable only by its owner,
 * JSON: { "version": 1, "entries": { NAME: text sealed by the vault for "keystore:NAME" } }. Its key is in a file
 * beside it, or in TAILRACE_VAULT_KEYS.
 */

import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadVaultKeys, Vault } from "#hub/auth/state/vault.ts";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { openDataFolder } from "#proto/kit/files/data-folder.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import { asOwnerOf } from "#proto/kit/files/folder-owner.ts";

const FILE = "keystore";
const KEY_FILE = "keystore.key";
const VERSION = 1;
const MODE = 0o600;

/** Permission bits of group and others. */
const FOREIGN_RIGHTS = 0o077;

/** Names as pipelines can write them. */
const NAME = /^[a-zA-Z_.][a-zA-Z0-9_.]{0,127}$/;

/** Longest secret, characters: a PEM key or certificate fits. */
const MAX_LENGTH = 64 * 1024;

type Entries = Readonly<Record<string, string>>;

export class Keystore {
  readonly #path: string;
  readonly #vault: Vault;
  #entries: Entries;

  private constructor(path: string, vault: Vault, entries: Entries) {
    this.#path = path;
    this.#vault = vault;
    this.#entries = entries;
  }

  /** Opens the keystore of a data folder; undefined if there is none. Throws settings_invalid, data_corrupt. */
  static async open(folder: string, env: NodeJS.ProcessEnv): Promise<Keystore | undefined> {
    const path = join(folder, FILE);
    const entries = readEntries(path);
    if (entries === undefined) return undefined;
    const isEmpty = Object.keys(entries).length === 0;
    const keys = await loadVaultKeys(join(folder, KEY_FILE), env, async () => isEmpty);
    return new Keystore(path, new Vault(keys), entries);
  }

  /** Creates an empty keystore. Throws name_taken if one exists. */
  static async create(folder: string, env: NodeJS.ProcessEnv): Promise<Keystore> {
    const path = join(folder, FILE);
    if (readEntries(path) !== undefined)
      throw new AppError("name_taken", `a keystore exists: ${path}; add to it, or remove the file first`);
    openDataFolder(folder, MAX_LENGTH);
    const keys = await loadVaultKeys(join(folder, KEY_FILE), env, async () => true);
    const made = new Keystore(path, new Vault(keys), {});
    made.#write({});
    return made;
  }

  /** Sorted. */
  get names(): string[] {
    return Object.keys(this.#entries).sort();
  }

  /** Returns the secrets by name. Throws data_corrupt if one can't be opened. */
  values(): Record<string, string> {
    return Object.fromEntries(
      this.names.map((name) => [name, this.#vault.open(this.#entries[name]!, placeOf(name))]),
    );
  }

  /** Adds or replaces a secret. Throws request_invalid. */
  set(name: string, secret: string): void {
    if (!NAME.test(name))
      throw new AppError(
        "request_invalid",
        `"${name}" is not a valid name: use letters, digits, _ and ., not beginning with a digit`,
      );
    if (secret === "" || secret.length > MAX_LENGTH)
      throw new AppError("request_invalid", `the secret ${name} must have 1 to ${MAX_LENGTH} characters`);
    this.#write({ ...this.#entries, [name]: this.#vault.seal(secret, placeOf(name)) });
  }

  /** Throws not_found. */
  remove(name: string): void {
    if (!Object.hasOwn(this.#entries, name)) throw new AppError("not_found", `the keystore has no ${name}`);
    this.#write(Object.fromEntries(Object.entries(this.#entries).filter(([each]) => each !== name)));
  }

  #write(entries: Entries): void {
    writeFileAtomic(this.#path, `${JSON.stringify({ version: VERSION, entries }, null, 2)}\n`, MODE);
    this.#entries = entries;
  }
}

/**
 * Returns the values of `${NAME}` in pipelines: secrets of the keystore take precedence over the environment. The
 * hub's own variables (TAILRACE_…, keys among them) are excluded.
 */
export async function pipelineVariables(
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<Record<string, string>> {
  return { ...ownVariables(env), ...(await Keystore.open(folder, env))?.values() };
}

/** Returns the same with each secret replaced by its name in angle brackets. */
export async function shownVariables(
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<Record<string, string>> {
  const names = (await Keystore.open(folder, env))?.names ?? [];
  return { ...ownVariables(env), ...Object.fromEntries(names.map((name) => [name, `<${name}>`])) };
}

/** Returns the environment variables that pipelines may reference. */
export function ownVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const own = Object.entries(env).filter(
    ([name, value]) => value !== undefined && !name.startsWith("TAILRACE_"),
  );
  return Object.fromEntries(own) as Record<string, string>;
}

function placeOf(name: string): string {
  return `keystore:${name}`;
}

function readEntries(path: string): Entries | undefined {
  let text: string;
  try {
    if ((statSync(path).mode & FOREIGN_RIGHTS) !== 0)
      throw new AppError(
        "settings_invalid",
        `the keystore ${path} is readable by others; run chmod 600 ${path}`,
      );
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    if (systemCode(error) !== "EACCES") throw error;
    const remedy = asOwnerOf(dirname(path), "tailrace-hub");
    throw new AppError("file_unreadable", `this user may not read ${path}; ${remedy}`, {
      cause: error,
    });
  }
  try {
    const { version, entries } = JSON.parse(text) as { version?: unknown; entries?: unknown };
    if (version === VERSION && typeof entries === "object" && entries !== null) return entries as Entries;
  } catch {
    // Reported below, like any other content.
  }
  throw new AppError(
    "data_corrupt",
    `${path} is not a keystore of version ${VERSION}; restore a copy, or create a new one`,
  );
}
