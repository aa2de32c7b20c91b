/** Port of the hub interface (`/api`) to the status of the hub. */

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
  /** True when requests can be served; `/health` answers 503 else. */
  ready(): boolean;
  health(): HealthReport;
}
