/** The lifecycle policies of the cluster, whether they are carried out, and the indices where a step failed. */

import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import type { IndexMetadata } from "./index-metadata.ts";
import { checkPolicyName, parsePolicy, policyName } from "./lifecycle-policy.ts";
import { NamedRecords } from "./template-catalog.ts";

const POLICY_PREFIX = "lifecycle/";
const MODE_PREFIX = "lifecycle-mode/";
const FAULT_PREFIX = "lifecycle-fault/";
/** The one record of its kind. */
const MODE = "mode";
const MAX_POLICIES = 1_000;

/** A policy as it is stored. */
export interface StoredPolicy {
  /** Grows with each change, from 1. */
  readonly version: number;
  /** ms since 1970-01-01 UTC. */
  readonly modifiedMs: number;
  /** {phases, _meta}, as given. */
  readonly policy: JsonObject;
}

/** A step of an index that failed and is tried again. */
export interface LifecycleFault {
  /** Of the index: another index of the same name has no fault. */
  readonly uuid: string;
  readonly step: string;
  readonly reason: string;
}

/** What the APIs may do with policies. */
export interface LifecyclePolicies {
  all(): Readonly<Record<string, StoredPolicy>>;
  get(name: string): StoredPolicy | undefined;
  /** Throws parsing, request_invalid. */
  put(name: string, policy: JsonObject): Promise<void>;
  /** Throws request_invalid if an index uses it, not_found. */
  delete(name: string): Promise<void>;
  readonly isStopped: boolean;
  setStopped(isStopped: boolean): Promise<void>;
  fault(index: Pick<IndexMetadata, "name" | "uuid">): LifecycleFault | undefined;
  clearFault(name: string): Promise<void>;
}

export class LifecycleCatalog implements LifecyclePolicies {
  readonly #policies: NamedRecords<StoredPolicy>;
  readonly #modes: NamedRecords<{ readonly isStopped: boolean }>;
  readonly #faults: NamedRecords<LifecycleFault>;
  readonly #indices: () => Iterable<IndexMetadata>;
  readonly #now: () => number;

  constructor(bucket: StateBucket, indices: () => Iterable<IndexMetadata>, now: () => number) {
    this.#policies = new NamedRecords(bucket, POLICY_PREFIX);
    this.#modes = new NamedRecords(bucket, MODE_PREFIX);
    this.#faults = new NamedRecords(bucket, FAULT_PREFIX);
    this.#indices = indices;
    this.#now = now;
  }

  all(): Readonly<Record<string, StoredPolicy>> {
    return this.#policies.all();
  }

  get(name: string): StoredPolicy | undefined {
    return this.#policies.get(name);
  }

  async put(name: string, policy: JsonObject): Promise<void> {
    checkPolicyName(name);
    parsePolicy(policy);
    const before = this.get(name);
    if (before === undefined && Object.keys(this.all()).length >= MAX_POLICIES)
      throw new AppError("request_invalid", `at most ${MAX_POLICIES} lifecycle policies are possible`);
    const version = (before?.version ?? 0) + 1;
    await this.#policies.put(name, { version, modifiedMs: this.#now(), policy });
  }

  async delete(name: string): Promise<void> {
    const users = [...this.#indices()].filter((index) => policyName(index) === name);
    if (users.length > 0) {
      const names = users.map((index) => index.name).sort();
      throw new AppError(
        "request_invalid",
        `Cannot delete policy [${name}]. It is in use by one or more indices: [${names.join(", ")}]`,
      );
    }
    if (this.get(name) === undefined) throw new AppError("not_found", `Lifecycle policy not found: ${name}`);
    await this.#policies.delete([name]);
  }

  /** True: no step is carried out. */
  get isStopped(): boolean {
    return this.#modes.get(MODE)?.isStopped ?? false;
  }

  setStopped(isStopped: boolean): Promise<void> {
    return this.#modes.put(MODE, { isStopped });
  }

  fault({ name, uuid }: Pick<IndexMetadata, "name" | "uuid">): LifecycleFault | undefined {
    const fault = this.#faults.get(name);
    return fault?.uuid === uuid ? fault : undefined;
  }

  /** Names of indices with a fault, also of some that are gone. */
  faulty(): string[] {
    return Object.keys(this.#faults.all());
  }

  setFault(name: string, fault: LifecycleFault): Promise<void> {
    return this.#faults.put(name, fault);
  }

  clearFault(name: string): Promise<void> {
    return this.#faults.delete([name]);
  }

  /** Reads the policy `name` and the mode from the bucket: the watch may not have delivered their last change yet. */
  async reload(name: string): Promise<void> {
    await this.#policies.reload(name);
    await this.#modes.reload(MODE);
  }

  /** Applies a change of the bucket; see NamedRecords. */
  take(key: string, value: Uint8Array | null, revision: number): void {
    for (const records of [this.#policies, this.#modes, this.#faults]) records.take(key, value, revision);
  }
}
