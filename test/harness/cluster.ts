/** Several hubs on one nats-server, as processes, with agents that write to it. */

import { randomBytes } from "node:crypto";
import { type AgentProcess, startAgent } from "./agent.ts";
import { readMetric } from "./http.ts";
import { type Settings, TestHub } from "./hub.ts";
import { startNats, type TestNats } from "./nats.ts";
import { until } from "./until.ts";
import type { Workspace } from "./workspace.ts";

/** The setting cluster.copies of hubs of a cluster, where a test doesn't choose: its promises hold in both modes. */
export const COPIES = process.env["TAILRACE_FAULT_COPIES"] ?? "all";
/** Hubs of a cluster share the keys of the vault. */
const VAULT_KEYS = `test:${randomBytes(32).toString("base64")}`;

export class TestCluster {
  readonly nats: TestNats;
  readonly hubs: TestHub[] = [];
  readonly #workspace: Workspace;

  private constructor(workspace: Workspace, nats: TestNats) {
    this.#workspace = workspace;
    this.nats = nats;
  }

  /** Starts the nats-server; it ends with the workspace. */
  static async start(workspace: Workspace): Promise<TestCluster> {
    const nats = await startNats({ dataDir: workspace.path("nats") });
    workspace.defer(() => nats.stop());
    return new TestCluster(workspace, nats);
  }

  /** Makes a hub without starting it. */
  hub(name: string, settings: Settings = {}): TestHub {
    const { url, token } = this.nats;
    const hub = clusterHub(this.#workspace, name, { servers: [url], token }, settings);
    this.hubs.push(hub);
    return hub;
  }

  /** Makes and starts a hub. */
  async startHub(name: string, settings: Settings = {}): Promise<TestHub> {
    const hub = this.hub(name, settings);
    await hub.start();
    return hub;
  }

  /** Starts an agent that reads the files `paths`. */
  async startAgent(name: string, paths: readonly string[]): Promise<AgentProcess> {
    const agent = await startAgent({
      folder: this.#workspace.path(name, ""),
      paths,
      natsUrl: this.nats.url,
      token: this.nats.token,
      settings: { name },
      input: { id: "test", scan_frequency: "200ms" },
    });
    this.#workspace.defer(() => agent.kill9());
    return agent;
  }
}

/** Makes a hub of a cluster without starting it; it ends with the workspace. */
export function clusterHub(
  workspace: Workspace,
  name: string,
  nats: { readonly servers: readonly string[]; readonly token: string },
  settings: Settings = {},
): TestHub {
  const hub = new TestHub({
    dataDir: workspace.path(name, "data"),
    logFile: workspace.path(name, "hub.log"),
    settings: {
      "node.name": name,
      "nats.servers": nats.servers,
      "nats.token": nats.token,
      "journal.max_bytes": "64mb",
      "cluster.copies": COPIES,
      ...settings,
    },
    env: { TAILRACE_VAULT_KEYS: VAULT_KEYS },
  });
  workspace.defer(() => hub.destroy());
  return hub;
}

/** Returns the number of partitions that a hub processes. */
export async function partitionsOf(hub: TestHub): Promise<number> {
  return (await readMetric(`${hub.dashboardUrl}/metrics`, "tailrace_cluster_partitions")) ?? Number.NaN;
}

/** Resolves when these hubs process all partitions together, each a fair share; returns how long it took, ms. */
export async function untilShared(hubs: readonly TestHub[], deadlineMs = 60_000): Promise<number> {
  const startedMs = performance.now();
  const fair = Math.floor(256 / hubs.length);
  await until(
    `${hubs.length} hubs sharing all partitions`,
    async () => {
      const counts = await Promise.all(hubs.map(partitionsOf));
      return counts.reduce((sum, count) => sum + count, 0) === 256 && counts.every((count) => count >= fair);
    },
    { deadlineMs, everyMs: 200 },
  );
  return performance.now() - startedMs;
}
