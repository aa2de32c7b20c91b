/** Ports of the hub interface (`/api`): the status of the hub, saved objects, alert rules and retention rules. */

import type { JsonObject } from "#proto/kit/json.ts";

/** State of one part of the hub. */
export interface PartHealth {
  readonly part: string;
  /** `degraded`: it works, but needs attention. `failing`: it can't do its work now. */
  readonly level: "ok" | "degraded" | "failing";
  /** For people; empty if the part is ok. */
  readonly reason: string;
}

/** State of all parts; `status` is the worst of them. */
export interface HealthReport {
  readonly status: PartHealth["level"];
  readonly parts: readonly PartHealth[];
}

/** State of the hub for the hub interface (`/api`). */
export interface HubStatus {
  /** JSON of `/api/status`. */
  status(): Promise<JsonObject>;
  /** JSON of `/api/agents`. */
  agents(): JsonObject[];
  /** JSON of `/api/agents/ID`, with its files; undefined for an unknown agent. */
  agent(id: string): JsonObject | undefined;
  /** Forgets an agent until it reports again; false for an unknown one. */
  forgetAgent(id: string): boolean;
  /** True when requests can be served; otherwise `/health` answers 503. */
  ready(): boolean;
  health(): HealthReport;
}

/** The content of a saved object: a title, and attributes that the page defines. */
export interface SavedContent {
  readonly title: string;
  readonly attributes: JsonObject;
  /** The person who saves it. */
  readonly by?: string;
}

/** A saved object. */
export interface SavedObject extends SavedContent {
  readonly type: string;
  readonly id: string;
  /** Changes with each write. */
  readonly revision: number;
  /** ISO 8601, UTC. */
  readonly updated: string;
}

/** Searches, visualisations and dashboards that people saved. All calls throw request_invalid for an invalid type or id. */
export interface SavedObjects {
  /** Returns all objects of a type, by title. */
  list(type: string): Promise<SavedObject[]>;
  /** Throws not_found. */
  get(type: string, id: string): Promise<SavedObject>;
  /** Throws request_too_large. */
  create(type: string, content: SavedContent): Promise<SavedObject>;
  /** Throws journal_conflict if `revision` isn't the newest, not_found, request_too_large. */
  put(type: string, id: string, content: SavedContent, revision?: number): Promise<SavedObject>;
  /** Throws journal_conflict if `revision` isn't the newest, not_found. */
  delete(type: string, id: string, revision?: number): Promise<void>;
  /** Returns the earlier versions without their content, the newest first. Throws not_found. */
  revisions(type: string, id: string): Promise<Omit<SavedObject, "attributes">[]>;
  /** Returns an earlier version or the current one. Throws not_found. */
  revision(type: string, id: string, revision: number): Promise<SavedObject>;
  /** Saves the samples that don't exist; returns which were saved and which existed, as JSON. */
  loadSamples(): Promise<object>;
}

/** Rules that watch the lines, as JSON. Calls throw not_found, request_invalid or journal_conflict. */
export interface Alerts {
  /** Returns all rules with their states, by title. */
  list(): Promise<object[]>;
  get(id: string): Promise<object>;
  create(body: unknown): Promise<object>;
  /** Makes the sender the writer, with whose rights the rule searches. */
  put(id: string, body: unknown, revision?: number): Promise<object>;
  /** Changes only `enabled` and `muted_until`; the writer stays. */
  switch(id: string, body: object, revision?: number): Promise<object>;
  delete(id: string, revision?: number): Promise<void>;
  /** Returns what a rule would have counted in the last `spanMs`. */
  preview(body: unknown, spanMs: number): Promise<object[]>;
  /** Sends a test over a channel. Throws the error of a failed delivery. */
  test(channel: unknown): Promise<void>;
}

/** The retention rules of indices. */
export interface RetentionRules {
  /** Returns the rules from the settings, those set through the interface, and the revision that a change needs. */
  view(): Promise<RetentionView>;
  /** Replaces the rules set through the interface. Throws request_invalid, journal_conflict. */
  put(rules: readonly string[], revision: number): Promise<RetentionView>;
  /** Returns the names of the indices that these rules would delete immediately. Throws request_invalid. */
  due(rules: readonly string[]): Promise<string[]>;
}

export interface RetentionView {
  readonly fixed: readonly string[];
  readonly rules: readonly string[];
  readonly revision: number;
}
