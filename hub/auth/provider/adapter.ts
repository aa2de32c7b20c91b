/**
 * The storage adapter of oidc-provider: records in the hub's state under the hash of the credential, so that the store
 * never holds one. One-time use is a compare-and-set: of concurrent uses, on any hubs, exactly one succeeds.
 */

import { type Adapter, type AdapterPayload, errors } from "oidc-provider";
import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { Records, type Store, won } from "#hub/auth/state/records.ts";
import { fingerprint, hashOf } from "#hub/auth/state/secrets.ts";
import { DASHBOARD_CLIENT_ID } from "./clients.ts";
import { FAMILY_MODELS, type TokenFamilies } from "./tokens.ts";

/** Placeholder for the id of an interaction inside its own record. */
const SELF = "{self}";

/** Dependencies of the adapters of all models. */
export interface AdapterParts {
  readonly store: Store;
  readonly families: TokenFamilies;
  readonly audit: AuditSink;
  /** Returns the metadata of a registered client in the form of oidc-provider. */
  readonly findClient: (clientId: string) => Promise<AdapterPayload | undefined>;
}

/** Records of one model of oidc-provider. */
export class StateAdapter implements Adapter {
  readonly #model: string;
  readonly #parts: AdapterParts;
  readonly #records: Records<AdapterPayload>;
  readonly #byUid: Records<{ key: string }>;

  constructor(model: string, parts: AdapterParts) {
    this.#model = model;
    this.#parts = parts;
    this.#records = new Records(parts.store, `oauth.${model}`);
    this.#byUid = new Records(parts.store, "oauth-session-uid");
  }

  async upsert(id: string, payload: AdapterPayload, expiresInSeconds?: number): Promise<void> {
    const key = hashOf(id);
    const expiresAt =
      expiresInSeconds === undefined ? null : this.#parts.store.clock.now() + expiresInSeconds * 1_000;
    const stored = this.#records.put(key, withoutSecrets(id, payload), expiresAt);
    // Its owner's list has a grant only once it is there: who revokes by the list removes entries without one.
    if (this.#model === "Grant") await stored;
    // Else at once: each write waits for the log, and none depends on another.
    await Promise.all([stored, this.#index(id, key, payload, expiresAt)]);
  }

  /** Writes the entries by which the record is found other than by its id. */
  async #index(
    id: string,
    key: string,
    { grantId, uid, accountId, clientId }: AdapterPayload,
    expiresAt: number | null,
  ): Promise<void> {
    const { families } = this.#parts;
    // The dashboard ends the family of each of its sign-ins itself, see AccessTokens.verifyOnce.
    if (FAMILY_MODELS.has(this.#model) && grantId !== undefined && clientId !== DASHBOARD_CLIENT_ID)
      await families.join(grantId, this.#model, key, expiresAt);
    if (this.#model === "Grant" && accountId !== undefined && clientId !== undefined)
      await families.own(id, accountId, clientId, expiresAt);
    if (this.#model === "Session" && uid !== undefined)
      await this.#byUid.put(hashOf(uid), { key }, expiresAt);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    if (this.#model === "Client") return this.#parts.findClient(id);
    const payload = await this.#read(hashOf(id));
    return payload === undefined ? undefined : withSecrets(id, payload);
  }

  /** Returns the session with this uid. Its id is left out: only the browser has it. */
  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const key = (await this.#byUid.get(hashOf(uid)))?.data.key;
    return key === undefined ? undefined : this.#read(key);
  }

  /** The device flow is not offered. */
  findByUserCode(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** Consumes a credential. A second use gets invalid_grant and ends the family (RFC 6749 section 10.5). */
  async consume(id: string): Promise<void> {
    const read = await this.#records.get(hashOf(id));
    if (read !== null && read.data.consumed === undefined) {
      const consumed = Math.floor(this.#parts.store.clock.now() / 1_000);
      if (await won(this.#records.update(read, { ...read.data, consumed }))) return;
    }
    if (read?.data.grantId !== undefined) await this.#parts.families.revoke(read.data.grantId);
    this.#parts.audit({
      action: this.#model === "RefreshToken" ? "token_reused" : "code_replayed",
      outcome: "refused",
      actor: read?.data.clientId ?? "unknown",
      subject: fingerprint(id),
      reason: "used twice; everything issued with it is revoked",
    });
    throw new errors.InvalidGrant(`${this.#model} used twice at once`);
  }

  async destroy(id: string): Promise<void> {
    if (this.#model === "Grant") await this.#parts.families.revoke(id);
    else await this.#records.delete(hashOf(id));
  }

  revokeByGrantId(grantId: string): Promise<void> {
    return this.#parts.families.revoke(grantId);
  }

  async #read(key: string): Promise<AdapterPayload | undefined> {
    const payload = (await this.#records.get(key))?.data;
    if (payload === undefined || !FAMILY_MODELS.has(this.#model)) return payload;
    const lives = payload.grantId !== undefined && (await this.#parts.families.lives(payload.grantId));
    return lives ? payload : undefined;
  }
}

/** Returns the payload without secrets: its own id, and the session's id within an interaction. */
function withoutSecrets(id: string, payload: AdapterPayload): AdapterPayload {
  const { jti: _, ...kept } = payload;
  if (payload.kind !== "Interaction") return kept;
  const { session, returnTo } = payload;
  return {
    ...kept,
    ...(typeof returnTo === "string" ? { returnTo: returnTo.replaceAll(id, SELF) } : {}),
    ...(session === undefined ? {} : { session: { ...session, cookie: "" } }),
  };
}

function withSecrets(id: string, payload: AdapterPayload): AdapterPayload {
  const { returnTo } = payload;
  return {
    ...payload,
    jti: id,
    ...(typeof returnTo === "string" ? { returnTo: returnTo.replaceAll(SELF, id) } : {}),
  };
}
