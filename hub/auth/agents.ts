/** Credentials of agents: NATS nkeys, of which the hub keeps the public half; enrolment by a one-time token. */

import { nkeys } from "@nats-io/transport-node";
import { AppError } from "#proto/kit/errors.ts";
import type { AuditSink } from "./audit.ts";
import { Records, type Store, won } from "./records.ts";
import { hashOf, newSecret } from "./secrets.ts";

/** Life of an enrolment token: a day, enough to paste it into a set-up script. */
const ENROLMENT_MS = 24 * 3_600_000;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** An agent that may publish. */
export interface AgentCredential {
  /** nkey of kind user: 56 characters, "U…". What NATS is told to accept. */
  readonly publicKey: string;
  readonly name: string;
  /** ms since 1970. */
  readonly issuedAt: number;
}

interface AgentRecord {
  readonly name: string;
  readonly issuedAt: number;
}

/** Issues, lists and revokes agents' credentials. `bucket.watch` on `agent.` tells of every change. */
export class AgentCredentials {
  readonly #agents: Records<AgentRecord>;
  readonly #tokens: Records<{ createdBy: string }>;
  readonly #store: Store;
  readonly #audit: AuditSink;

  constructor(store: Store, audit: AuditSink) {
    this.#agents = new Records(store, "agent");
    this.#tokens = new Records(store, "agent-enrolment");
    this.#store = store;
    this.#audit = audit;
  }

  /** Makes a pair; `seed` is shown this once and goes into the agent's `nkey_seed_file`. Throws request_invalid. */
  async issue(name: string, actor: string): Promise<{ seed: string; credential: AgentCredential }> {
    const pair = nkeys.createUser();
    const seed = new TextDecoder().decode(pair.getSeed());
    const credential = await this.#add(name, pair.getPublicKey());
    pair.clear();
    this.#audit({ action: "agent_issued", outcome: "ok", actor, subject: `${name} ${credential.publicKey}` });
    return { seed, credential };
  }

  /** Returns a new enrolment token, good once and for a day. */
  async newEnrolmentToken(actor: string): Promise<string> {
    const token = newSecret();
    const expiresAt = this.#store.clock.now() + ENROLMENT_MS;
    await this.#tokens.create(hashOf(token), { createdBy: actor }, expiresAt);
    return token;
  }

  /** Takes the public half of a pair that the agent made itself. Throws forbidden, request_invalid. */
  async enrol(token: string, name: string, publicKey: string): Promise<AgentCredential> {
    checkName(name);
    checkPublicKey(publicKey);
    const found = await this.#tokens.take(hashOf(token));
    if (found === null) {
      throw new AppError("forbidden", "this enrolment token was used or is too old; make another one");
    }
    const credential = await this.#add(name, publicKey);
    const subject = `${name} ${publicKey}`;
    this.#audit({ action: "agent_enrolled", outcome: "ok", actor: found.createdBy, subject });
    return credential;
  }

  async list(): Promise<AgentCredential[]> {
    const all = await this.#agents.list();
    return all
      .map(({ id, data }) => ({ publicKey: id, ...data }))
      .sort((a, b) => a.name.localeCompare(b.name));
  }

  /** Ends a credential. Throws not_found. */
  async revoke(publicKey: string, actor: string): Promise<void> {
    const agent = await this.#agents.take(publicKey);
    if (agent === null) throw new AppError("not_found", `there is no agent with key ${publicKey}`);
    this.#audit({ action: "agent_revoked", outcome: "ok", actor, subject: `${agent.name} ${publicKey}` });
  }

  async #add(name: string, publicKey: string): Promise<AgentCredential> {
    checkName(name);
    const record: AgentRecord = { name, issuedAt: this.#store.clock.now() };
    if (!(await won(this.#agents.create(publicKey, record)))) {
      throw new AppError("request_invalid", `an agent with key ${publicKey} is enrolled already`);
    }
    return { publicKey, ...record };
  }
}

function checkName(name: string): void {
  if (NAME.test(name)) return;
  throw new AppError("request_invalid", `"${name}" is no agent name; use letters, digits and . _ -`);
}

function checkPublicKey(publicKey: string): void {
  try {
    if (!publicKey.startsWith("U")) throw new Error("no user key");
    nkeys.fromPublic(publicKey);
  } catch (cause) {
    throw new AppError("request_invalid", "public_key is no nkey of kind user (U…)", { cause });
  }
}
