/** The generated messages of cluster.proto. */

import "./no-long.ts";
import { tailrace as cluster } from "./gen/cluster.js";

export const { HostFrame } = cluster;
export type { tailrace as cluster } from "./gen/cluster.js";
