/**
 * The storage adapter of oidc-provider: records in the hub's state under the hash of the credential, so that the store
 * never holds one. One-time use is a compare-and-set: of concurrent uses, on any hubs, exactly one succeeds.
 */

import { type Adapter, type AdapterPayload, errors } from "oidc-provider";
import { type Accounts, isSincePassword } from "#hub/auth/accounts/accounts.ts";
import type { AuditSink } from "#hub/auth/audit/audit.ts";
import type { KnownRecords } from "#hub/auth/state/known-records.ts";
import { Records, type Store, type Stored, won } from "#hub/auth/state/records.ts";
import { fingerprint, hashOf } from "#hub/auth/state/secrets.ts";
import { AppError } from "#proto/kit/errors.ts";
import { setNewest } from "#proto/kit/newest-entries.ts";
import { SESSION_BY_UID, sessionName } from "./browser-sessions.ts";
import { DASHBOARD_CLIENT_ID } from "./clients.ts";
import { currentExchange, findAccountOf } from "./exchange.ts";
import { FAMILY_MODELS, type SignInTokens, type TokenFamilies } from "./tokens.ts";

/** Placeholder for the id of an interaction inside its own record. */
const SELF = "{self}";

/** Dependencies of the adapters of all models. */
export interface AdapterParts {
  readonly store: Store;
  readonly families: TokenFamilies;
  readonly signInTokens: SignInTokens;
  /** Codes that this process stored, for the request that exchanges them. */
  readonly known: KnownRecords<AdapterPayload>;
  readonly audit: AuditSink;
  readonly accounts: Pick<Accounts, "get">;
  /** Returns the metadata of a registered client in the form of oidc-provider. */
  readonly findClient: (clientId: string) => Promise<AdapterPayload | undefined>;
}

/** Sessions that are remembered. The account of others is read after them. */
const MAX_SESSIONS = 1_000;

/** Attempts to store a session by compare-and-set; each that is lost means that another request was first. */
const ATTEMPTS = 32;

/** This process's knowledge of a session. */
interface KnownSession {
  readonly accountId: string;
  /** When the entry under its uid expires that was stored with it, ms since 1970; -Infinity: unknown. */
  readonly namedUntil: number;
  /** The revision that this process stored last; 0: unknown. Another hub may have stored an entry with a later one. */
  readonly revision: number;
}

/** Records of one model of oidc-provider. */
export class StateAdapter implements Adapter {
  readonly #model: string;
  readonly #parts: AdapterParts;
  readonly #records: Records<AdapterPayload>;
  readonly #byUid: Records<{ key: string }>;
  /** By the sessions' keys. */
  readonly #sessions = new Map<string, KnownSession>();

  constructor(model: string, parts: AdapterParts) {
    this.#model = model;
    this.#parts = parts;
    this.#records = new Records(parts.store, `oauth.${model}`);
    this.#byUid = new Records(parts.store, SESSION_BY_UID);
  }

  async upsert(id: string, payload: AdapterPayload, expiresInSeconds?: number): Promise<void> {
    const key = hashOf(id);
    const expiresAt =
      expiresInSeconds === undefined ? null : this.#parts.store.clock.now() + expiresInSeconds * 1_000;
    const isOwn = payload.clientId === DASHBOARD_CLIENT_ID;
    const exchange = currentExchange();
    if (isOwn && this.#model === "AccessToken")
      return this.#parts.signInTokens.keep(key, { payload, grant: await readGrant(payload.grantId) });
    if (isOwn && this.#model === "Grant" && exchange !== undefined) {
      // Stored within its code.
      const data = await this.#completed(withoutSecrets(id, payload));
      exchange.reads.set(nameOf("Grant", key), Promise.resolve({ id: key, data, expiresAt, revision: 0 }));
      return;
    }
    const read = exchange?.reads.get(nameOf(this.#model, key));
    exchange?.reads.delete(nameOf(this.#model, key));
    // Nobody has a code before the answer.
    const isCode = this.#model === "AuthorizationCode";
    const stored =
      this.#model === "Session"
        ? this.#storeSession(key, withoutSecrets(id, payload), expiresAt, read)
        : this.#store(id, key, payload, expiresAt);
    if (exchange !== undefined && isCode) {
      stored.catch(() => undefined); // reported below
      exchange.writes.push(stored);
    } else await Promise.all([stored, ...(exchange?.writes.splice(0) ?? [])]);
  }

  async #store(id: string, key: string, payload: AdapterPayload, expiresAt: number | null): Promise<void> {
    const record = await this.#completed(withoutSecrets(id, payload));
    const stored =
      this.#model === "AuthorizationCode"
        ? this.#putKnown(key, record, expiresAt)
        : this.#records.put(key, record, expiresAt);
    // Its owner's list has a grant only once it is there: who revokes by the list removes entries without one.
    if (this.#model === "Grant") await stored;
    // Else at once: each write waits for the log, and none depends on another.
    await Promise.all([stored, this.#indexFamily(id, key, payload, expiresAt)]);
  }

  /**
   * Stores a session and its entry under its uid. A session that was read and has ended since is not stored again: the
   * browser must sign in.
   */
  async #storeSession(
    key: string,
    record: AdapterPayload,
    expiresAt: number | null,
    read: Promise<Stored<AdapterPayload> | null> | undefined,
  ): Promise<void> {
    const { accountId } = record;
    if (accountId !== undefined)
      this.#note(key, {
        namedUntil: Number.NEGATIVE_INFINITY,
        revision: 0,
        ...this.#sessions.get(key),
        accountId,
      });
    let before = (await read) ?? null;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (await won(this.#replaceSession(key, record, expiresAt, before))) return;
      // Another request has stored it meanwhile, or it has ended.
      before = await this.#records.get(key);
      if (before === null) return;
    }
    throw new AppError("unavailable", "the session at the provider changes too often; try again");
  }

  /**
   * Stores a session in place of what was read. Its entry outlives it, so that the next use of the session need not store it
   * again: as long as only this process has changed the session, nobody has taken or shortened the entry. Throws
   * journal_conflict if the session has changed since.
   */
  async #replaceSession(
    key: string,
    record: AdapterPayload,
    expiresAt: number | null,
    before: Stored<AdapterPayload> | null,
  ): Promise<void> {
    const { uid, accountId } = record;
    const known = this.#sessions.get(key);
    const isNamed =
      before !== null &&
      before.data.uid === uid &&
      known?.revision === before.revision &&
      known.namedUntil >= (expiresAt ?? Number.POSITIVE_INFINITY);
    const until = expiresAt === null ? null : 2 * expiresAt - this.#parts.store.clock.now();
    const [revision] = await Promise.all([
      before === null
        ? this.#records.put(key, record, expiresAt)
        : this.#records.update(before, record, expiresAt),
      isNamed || uid === undefined ? undefined : this.#byUid.put(sessionName(uid), { key }, until),
    ]);
    if (accountId === undefined) return;
    const namedUntil = isNamed ? known.namedUntil : (until ?? Number.POSITIVE_INFINITY);
    this.#note(key, { accountId, namedUntil, revision });
  }

  /**
   * Returns a grant with its account's epoch, as a new password ends what was allowed in earlier ones; and a code of the
   * dashboard with its grant: whoever deletes the one record has used the code up and ended what came from it.
   */
  async #completed(record: AdapterPayload): Promise<AdapterPayload> {
    const { accountId, clientId, grantId } = record;
    if (this.#model === "Grant" && accountId !== undefined) {
      const account = await findAccountOf(this.#parts.accounts, accountId);
      return { ...record, accountEpoch: account?.epoch ?? 0 };
    }
    if (this.#model === "AuthorizationCode" && clientId === DASHBOARD_CLIENT_ID)
      return { ...record, grant: (await readGrant(grantId))?.data };
    return record;
  }

  async #putKnown(key: string, record: AdapterPayload, expiresAt: number | null): Promise<void> {
    // As a reader would get it: the library may change its own object afterwards.
    const data = JSON.parse(JSON.stringify(record)) as AdapterPayload;
    const revision = await this.#records.put(key, record, expiresAt);
    this.#parts.known.note(nameOf(this.#model, key), { id: key, data, expiresAt, revision });
  }

  /** Writes the entries of a record's family. Those of the dashboard's sign-ins end with their code, see AccessTokens.verifyOwn. */
  async #indexFamily(
    id: string,
    key: string,
    { grantId, accountId, clientId }: AdapterPayload,
    expiresAt: number | null,
  ): Promise<void> {
    const { families } = this.#parts;
    if (clientId === DASHBOARD_CLIENT_ID) return;
    if (FAMILY_MODELS.has(this.#model) && grantId !== undefined)
      await families.join(grantId, this.#model, key, expiresAt);
    if (this.#model === "Grant" && accountId !== undefined && clientId !== undefined)
      await families.own(id, accountId, clientId, expiresAt);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    if (this.#model === "Client") return this.#parts.findClient(id);
    const key = hashOf(id);
    if (this.#model === "Session") this.#readAccountOf(key);
    const payload = await this.#read(key);
    return payload === undefined ? undefined : withSecrets(id, payload);
  }

  /** Reads the account of a session together with it. */
  #readAccountOf(key: string): void {
    const accountId = this.#sessions.get(key)?.accountId;
    if (accountId === undefined) return;
    const account = this.#parts.accounts.get(accountId);
    account.catch(() => undefined); // thrown where the account is used
    currentExchange()?.accounts.set(accountId, account);
  }

  #note(key: string, session: KnownSession): void {
    setNewest(this.#sessions, key, session, MAX_SESSIONS);
  }

  /** Returns the session with this uid. Its id is left out: only the browser has it. */
  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const key = (await this.#byUid.get(sessionName(uid)))?.data.key;
    return key === undefined ? undefined : this.#read(key);
  }

  /** The device flow is not offered. */
  findByUserCode(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /**
   * Consumes a credential. A second use gets invalid_grant and ends the family (RFC 6749 section 10.5). A code of the
   * dashboard is used up where its token is redeemed, by compare-and-set, see AccessTokens.verifyOwn.
   */
  async consume(id: string): Promise<void> {
    const key = hashOf(id);
    // Compared with the record that the request was checked against: whatever changed it since, this use has lost.
    const read = await this.#get(this.#model, key);
    if (read?.data.clientId === DASHBOARD_CLIENT_ID) return;
    currentExchange()?.reads.delete(nameOf(this.#model, key));
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
    currentExchange()?.reads.delete(nameOf(this.#model, hashOf(id)));
    if (this.#model === "Grant") await this.#parts.families.revoke(id);
    else await this.#records.delete(hashOf(id));
  }

  revokeByGrantId(grantId: string): Promise<void> {
    return this.#parts.families.revoke(grantId);
  }

  async #read(key: string): Promise<AdapterPayload | undefined> {
    const read = await this.#get(this.#model, key);
    if (read === null || !FAMILY_MODELS.has(this.#model)) return read?.data;
    const lives =
      read.data.clientId === DASHBOARD_CLIENT_ID ? this.#findsGrantOf(read) : this.#lives(read.data);
    return (await lives) ? read.data : undefined;
  }

  /** Returns true if a family has neither been revoked nor ended with its account's password. */
  async #lives({ grantId, accountId }: AdapterPayload): Promise<boolean> {
    if (grantId === undefined || accountId === undefined) return false;
    const [stored, account] = await Promise.all([
      this.#get("Grant", hashOf(grantId)),
      findAccountOf(this.#parts.accounts, accountId),
    ]);
    return stored !== null && isSincePassword(epochOf(stored.data), account);
  }

  /**
   * Lets the request find the grant of a code of the dashboard, as a record with the key and the revision of the code. Returns
   * false if the code has none.
   */
  async #findsGrantOf(code: Stored<AdapterPayload>): Promise<boolean> {
    const { grant, grantId } = code.data as AdapterPayload & { readonly grant?: AdapterPayload };
    if (grantId === undefined) return false;
    const key = hashOf(grantId);
    const data = grant ?? (await this.#grantApart(key));
    if (data === undefined) return false;
    currentExchange()?.reads.set(nameOf("Grant", key), Promise.resolve({ ...code, data }));
    return true;
  }

  /** Returns the grant of a code that a hub of an earlier version issued, with the revision of its own record. */
  async #grantApart(key: string): Promise<AdapterPayload | undefined> {
    const stored = await this.#get("Grant", key);
    return stored === null ? undefined : { ...stored.data, apart: stored.revision };
  }

  /** Returns a record; within a request as it was read first, or as this process stored it. */
  #get(model: string, key: string): Promise<Stored<AdapterPayload> | null> {
    const name = nameOf(model, key);
    const read = (): Promise<Stored<AdapterPayload> | null> =>
      new Records<AdapterPayload>(this.#parts.store, `oauth.${model}`).get(key);
    const exchange = currentExchange();
    if (exchange === undefined) return read();
    let found = exchange.reads.get(name);
    if (found === undefined) {
      const known = this.#parts.known.take(name);
      found = known === undefined ? read() : Promise.resolve(known);
      exchange.reads.set(name, found);
    }
    return found;
  }
}

/** Returns the grant that the request has read, or given; null if there is none. */
async function readGrant(grantId = ""): Promise<Stored<AdapterPayload> | null> {
  return (await currentExchange()?.reads.get(nameOf("Grant", hashOf(grantId)))) ?? null;
}

/** Returns the epoch of its account in which a grant was given; undefined for grants of earlier versions. */
function epochOf({ accountEpoch }: AdapterPayload): number | undefined {
  return typeof accountEpoch === "number" ? accountEpoch : undefined;
}

function nameOf(model: string, key: string): string {
  return `${model}.${key}`;
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
