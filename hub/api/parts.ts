/** What the routes of the search interface are made of. */

import type { Clock } from "#proto/kit/clock.ts";
import type { ErrorContext } from "./error-body.ts";
import type { Cluster, Documents, Indices, Shards } from "./ports.ts";

export interface ApiParts {
  readonly indices: Indices;
  readonly documents: Documents;
  readonly shards: Shards;
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** Version told to clients, e.g. "6.5.4". */
  readonly compatVersion: string;
  readonly errors: ErrorContext;
}
