/** API keys: `tlr_<id>_<secret>`, shown once, stored as a hash, with role, index patterns and expiry. */

import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { Records, type Store } from "#hub/auth/state/records.ts";
import { hasHash, hashOf, newId, newSecret } from "#hub/auth/state/secrets.ts";
import { AppError } from "#proto/kit/errors.ts";
import { checkGrants } from "./index-rights.ts";
import type { Role } from "./principal.ts";

/** Prefix of every key, by which people and secret scanners recognise one. */
export const API_KEY_PREFIX = "tlr_";
const KEY = /^tlr_([0-9a-f]{18})_([A-Za-z0-9_-]{43})$/;

export interface ApiKey {
  readonly name: string;
  readonly secretHash: string;
  readonly role: Role;
  readonly indices: readonly string[];
  readonly createdBy: string;
  /** ms since 1970. */
  readonly createdAt: number;
  readonly firstUsedAt: number | null;
}

/** A key for people, without its hash. */
export interface ApiKeyView {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly indices: readonly string[];
  readonly createdBy: string;
  readonly createdAt: number;
  readonly firstUsedAt: number | null;
  readonly expiresAt: number | null;
}

export interface NewApiKey {
  readonly name: string;
  readonly role: Role;
  readonly indices?: readonly string[];
  /** ms since 1970; absent: never expires. */
  readonly expiresAt?: number;
}

/** Prefix of the keys' keys in the bucket, for followers of their end. */
export const API_KEY_KIND = "api-key";

export class ApiKeys {
  readonly #keys: Records<ApiKey>;
  readonly #store: Store;
  readonly #audit: AuditSink;

  constructor(store: Store, audit: AuditSink) {
    this.#keys = new Records(store, API_KEY_KIND);
    this.#store = store;
    this.#audit = audit;
  }

  /** Issues a key. `key` is returned only here. Throws request_invalid. */
  async issue(wanted: NewApiKey, actor: string): Promise<{ key: string; view: ApiKeyView }> {
    const now = this.#store.clock.now();
    if (wanted.name.trim() === "" || wanted.name.length > 100) {
      throw new AppError("request_invalid", "an API key needs a name of 1 to 100 characters");
    }
    if (wanted.expiresAt !== undefined && wanted.expiresAt <= now) {
      throw new AppError("request_invalid", `API key "${wanted.name}" would end in the past`);
    }
    checkGrants(wanted.indices ?? []);
    const id = newId();
    const secret = newSecret();
    const record: ApiKey = {
      name: wanted.name,
      secretHash: hashOf(secret),
      role: wanted.role,
      indices: wanted.indices ?? ["*"],
      createdBy: actor,
      createdAt: now,
      firstUsedAt: null,
    };
    const expiresAt = wanted.expiresAt ?? null;
    await this.#keys.create(id, record, expiresAt);
    this.#audit({ action: "api_key_issued", outcome: "ok", actor, subject: `${wanted.name} ${id}` });
    return { key: `${API_KEY_PREFIX}${id}_${secret}`, view: view(id, record, expiresAt) };
  }

  /** Returns id and key if `text` is a valid key, else null. */
  async verify(text: string): Promise<{ id: string; key: ApiKey } | null> {
    const [, id, secret] = KEY.exec(text) ?? [];
    if (id === undefined || secret === undefined) return null;
    const found = await this.#keys.get(id);
    if (found === null || !hasHash(secret, found.data.secretHash)) return null;
    if (found.data.firstUsedAt === null) await this.#noteFirstUse(id, found.data.name);
    return { id, key: found.data };
  }

  /** Returns the key that may be used now, or null. */
  async get(id: string): Promise<ApiKey | null> {
    return (await this.#keys.get(id))?.data ?? null;
  }

  async list(): Promise<ApiKeyView[]> {
    const all = await this.#keys.list();
    return all
      .map(({ id, data, expiresAt }) => view(id, data, expiresAt))
      .sort((a, b) => a.name.localeCompare(b.name));
  }

  /** Revokes a key, effective at once. Throws not_found. */
  async revoke(id: string, actor: string): Promise<void> {
    const key = await this.#keys.take(id);
    if (key === null) throw new AppError("not_found", `there is no API key ${id}`);
    this.#audit({ action: "api_key_revoked", outcome: "ok", actor, subject: `${key.name} ${id}` });
  }

  async #noteFirstUse(id: string, name: string): Promise<void> {
    let mine = false;
    await this.#keys.change(id, (key) => {
      mine = key.firstUsedAt === null;
      return mine ? { ...key, firstUsedAt: this.#store.clock.now() } : null;
    });
    if (mine) {
      this.#audit({ action: "api_key_used_first", outcome: "ok", actor: name, subject: `${name} ${id}` });
    }
  }
}

function view(
  id: string,
  { name, role, indices, createdBy, createdAt, firstUsedAt }: ApiKey,
  expiresAt: number | null,
): ApiKeyView {
  return { id, name, role, indices, createdBy, createdAt, firstUsedAt, expiresAt };
}
