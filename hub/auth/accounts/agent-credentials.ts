/**
 * Credentials of agents: NATS nkeys, of which the hub stores the public half, each bound to the UUID in its agent's
 * subjects. Enrolment by a one-time token.
 */

import { randomUUID } from "node:crypto";
import { nkeys } from "@nats-io/transport-node";
import type { AuditSink } from "#hub/auth/audit/audit.ts";
import { Records, type Store, won } from "#hub/auth/state/records.ts";
import { hashOf, newSecret } from "#hub/auth/state/secrets.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import { networkOf, RateLimit } from "./throttle.ts";

/** Life of an enrolment token: a day. */
export const ENROLMENT_MS = DAY_MS;
/** Prefix of agents' records in the state, for `StateFollower.onChange`. */
export const AGENT_KIND = "agent";
/** Life of a claim: one that a crashed hub left behind expires. */
const CLAIM_MS = 60_000;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** Version 8 UUIDs belong to pipeline inputs; an agent must not impersonate one. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-79a-f][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Refusals of one network per minute that are written to the audit log. */
const AUDITED_REFUSALS = 10;
/** Characters of a token's hash that identify it in lists. */
const SHOWN_ID_LENGTH = 12;

/** Where and how agents reach NATS. */
export interface AgentAccess {
  /** nats:// or tls:// addresses. */
  readonly servers: readonly string[];
  /** PEM of the certificate authority to trust; empty if the system's authorities suffice, or without TLS. */
  readonly ca: string;
  /** SHA-256 of the dashboard's authority or certificate, hexadecimal; empty if the system's authorities suffice. */
  readonly caFingerprint: string;
}

/** An agent that may publish. */
export interface AgentCredential {
  /** nkey of kind user: 56 characters, "U…". nats-server is configured to accept it. */
  readonly publicKey: string;
  readonly name: string;
  /** UUID in the agent's subjects, which no other agent may use. */
  readonly agentId: string;
  /** ms since 1970. */
  readonly issuedAt: number;
  /** Account that issued it. */
  readonly issuedBy: string;
}

/** An unused enrolment token. */
export interface OpenEnrolment {
  /** Identifies the token in lists; it is not the token. */
  readonly id: string;
  readonly createdBy: string;
  /** ms since 1970. */
  readonly expiresAt: number;
}

/** An agent's request for enrolment. */
export interface EnrolmentRequest {
  readonly token: string;
  readonly name: string;
  readonly publicKey: string;
  /** The agent's existing UUID; absent: the hub assigns one. */
  readonly agentId?: string;
  /** Address of the request, for the audit log. */
  readonly ip: string;
}

type AgentRecord = Omit<AgentCredential, "publicKey">;
/** The owner of a name or a UUID. */
interface Claim {
  readonly publicKey: string;
}

/** Issues, lists and revokes agents' credentials. */
export class AgentCredentials {
  readonly #agents: Records<AgentRecord>;
  readonly #names: Records<Claim>;
  readonly #ids: Records<Claim>;
  readonly #tokens: Records<{ createdBy: string }>;
  readonly #store: Store;
  readonly #audit: AuditSink;
  readonly #refusals: RateLimit;

  constructor(store: Store, audit: AuditSink) {
    this.#refusals = new RateLimit(store.clock, AUDITED_REFUSALS);
    this.#agents = new Records(store, AGENT_KIND);
    this.#names = new Records(store, "agent-name");
    this.#ids = new Records(store, "agent-id");
    this.#tokens = new Records(store, "agent-enrolment");
    this.#store = store;
    this.#audit = audit;
  }

  /**
   * Generates a key pair. `seed` is returned only here and goes into the agent's `nkey_seed_file`, `agentId` into its `id`.
   * Throws request_invalid, name_taken.
   */
  async issue(
    name: string,
    actor: string,
    agentId: string = randomUUID(),
  ): Promise<{ seed: string; credential: AgentCredential }> {
    checkName(name);
    checkAgentId(agentId);
    const pair = nkeys.createUser();
    const seed = new TextDecoder().decode(pair.getSeed());
    const publicKey = pair.getPublicKey();
    pair.clear();
    await this.#claim(publicKey, name, agentId);
    const credential = await this.#add(publicKey, name, agentId, actor);
    this.#audit({ action: "agent_issued", outcome: "ok", actor, subject: `${name} ${publicKey}` });
    return { seed, credential };
  }

  /** Returns a new enrolment token, valid once until `expiresAt` (ms since 1970), with its id in lists. */
  async newEnrolmentToken(
    actor: string,
    lifeMs: number = ENROLMENT_MS,
  ): Promise<{ id: string; token: string; expiresAt: number }> {
    const token = newSecret();
    const id = shownId(hashOf(token));
    const expiresAt = this.#store.clock.now() + lifeMs;
    await this.#tokens.create(hashOf(token), { createdBy: actor }, expiresAt);
    this.#audit({ action: "agent_token_made", outcome: "ok", actor, subject: id });
    return { id, token, expiresAt };
  }

  /** Returns the unused tokens, ordered by expiry. */
  async openEnrolments(): Promise<OpenEnrolment[]> {
    const now = this.#store.clock.now();
    return (await this.#tokens.list())
      .map(({ id, data, expiresAt }) => ({ id: shownId(id), expiresAt: expiresAt ?? now, ...data }))
      .sort((a, b) => a.expiresAt - b.expiresAt);
  }

  /** Withdraws an unused token. Throws not_found. */
  async withdrawEnrolment(id: string, actor: string): Promise<void> {
    const whole = id.length < SHOWN_ID_LENGTH ? undefined : (await this.#tokens.ids(id))[0];
    if (whole === undefined || (await this.#tokens.take(whole)) === null) {
      throw new AppError("not_found", `there is no enrolment token ${id}; it may have been used`);
    }
    this.#audit({ action: "agent_token_withdrawn", outcome: "ok", actor, subject: id });
  }

  /**
   * Stores the public half of a key pair that the agent generated. The token is checked first, and an invalid request
   * doesn't use it up. Throws unauthenticated, request_invalid, name_taken.
   */
  async enrol({
    token,
    name,
    publicKey,
    agentId = randomUUID(),
    ip,
  }: EnrolmentRequest): Promise<AgentCredential> {
    if ((await this.#tokens.get(hashOf(token))) === null) throw this.#badToken(name, ip);
    checkName(name);
    checkPublicKey(publicKey);
    checkAgentId(agentId);
    await this.#claim(publicKey, name, agentId);
    const found = await this.#tokens.take(hashOf(token));
    if (found === null) {
      await this.#release(name, agentId);
      throw this.#badToken(name, ip);
    }
    const credential = await this.#add(publicKey, name, agentId, found.createdBy);
    const subject = `${name} ${publicKey}`;
    this.#audit({ action: "agent_enrolled", outcome: "ok", actor: found.createdBy, ip, subject });
    return credential;
  }

  /** Returns all agents with credentials, sorted by name. */
  async list(): Promise<AgentCredential[]> {
    const all = await this.#agents.list();
    return all
      .map(({ id, data }) => ({ publicKey: id, ...data }))
      .sort((a, b) => a.name.localeCompare(b.name));
  }

  /** Revokes a credential, given its public key or its agent's name. Throws not_found. */
  async revoke(keyOrName: string, actor: string): Promise<void> {
    const named = NAME.test(keyOrName) ? await this.#names.get(nameKey(keyOrName)) : null;
    const publicKey = named?.data.publicKey ?? keyOrName;
    const agent = await this.#agents.take(publicKey);
    if (agent === null)
      throw new AppError("not_found", `there is no agent with the name or key ${keyOrName}`);
    await this.#release(agent.name, agent.agentId);
    this.#audit({ action: "agent_revoked", outcome: "ok", actor, subject: `${agent.name} ${publicKey}` });
  }

  /** Reserves name and UUID for a key. Only one of several concurrent calls succeeds. Throws name_taken. */
  async #claim(publicKey: string, name: string, agentId: string): Promise<void> {
    if ((await this.#agents.get(publicKey)) !== null) {
      throw new AppError("name_taken", `an agent with key ${publicKey} is enrolled already`);
    }
    const until = this.#store.clock.now() + CLAIM_MS;
    if (!(await won(this.#names.create(nameKey(name), { publicKey }, until)))) {
      throw new AppError(
        "name_taken",
        `an agent named "${name}" has credentials; revoke them or take another name`,
      );
    }
    if (await won(this.#ids.create(agentId, { publicKey }, until))) return;
    await this.#names.delete(nameKey(name));
    throw new AppError("name_taken", `an agent with the id ${agentId} has credentials; revoke them first`);
  }

  async #release(name: string, agentId: string): Promise<void> {
    await this.#ids.delete(agentId);
    await this.#names.delete(nameKey(name));
  }

  async #add(publicKey: string, name: string, agentId: string, issuedBy: string): Promise<AgentCredential> {
    const record: AgentRecord = { name, agentId, issuedAt: this.#store.clock.now(), issuedBy };
    await this.#agents.create(publicKey, record);
    await this.#names.put(nameKey(name), { publicKey });
    await this.#ids.put(agentId, { publicKey });
    return { publicKey, ...record };
  }

  #badToken(name: string, ip: string): AppError {
    const actor = name.slice(0, 100);
    if (this.#refusals.allows(networkOf(ip)))
      this.#audit({ action: "request_refused", outcome: "refused", actor, ip, reason: "enrolment token" });
    return new AppError(
      "unauthenticated",
      "this enrolment token is unknown, used or expired; request a new one",
    );
  }
}

function checkName(name: string): void {
  if (NAME.test(name)) return;
  throw new AppError("request_invalid", `"${name}" isn't an agent name; use letters, digits and . _ -`);
}

function checkAgentId(agentId: string): void {
  if (UUID.test(agentId)) return;
  throw new AppError("request_invalid", "agent_id isn't a UUID in small letters");
}

function checkPublicKey(publicKey: string): void {
  try {
    if (!publicKey.startsWith("U")) throw new Error("no user key");
    nkeys.fromPublic(publicKey);
  } catch (cause) {
    throw new AppError("request_invalid", "public_key isn't an nkey of kind user (U…)", { cause });
  }
}

/** Names that differ only in case are the same. */
function nameKey(name: string): string {
  return hashOf(name.toLowerCase());
}

function shownId(hash: string): string {
  return hash.slice(0, SHOWN_ID_LENGTH);
}

/** Returns the command that is run on the agent's machine. `caFingerprint`: see AgentAccess. */
export function enrolCommand(hubUrl: string, token: string, caFingerprint: string): string {
  const pin = caFingerprint === "" ? "" : ` --ca-fingerprint ${caFingerprint}`;
  return `tailrace-agent enroll ${hubUrl} ${token}${pin}`;
}
