/** Three hubs that find each other by discovery.seed_hosts, each with its own nats-server, as processes. */

import { randomBytes } from "node:crypto";
import { type AgentProcess, startAgent } from "./agent.ts";
import { type Settings, TestHub } from "./hub.ts";
import { freePorts } from "./nats-cluster.ts";
import { keepSecret } from "./secrets.ts";
import type { Workspace } from "./workspace.ts";

export class HubTrio {
  readonly hubs: readonly TestHub[];
  /** cluster.secret of the hubs. */
  readonly secret: string;
  readonly #workspace: Workspace;

  private constructor(workspace: Workspace, hubs: readonly TestHub[], secret: string) {
    this.#workspace = workspace;
    this.hubs = hubs;
    this.secret = secret;
  }

  /** Makes the hubs without starting them; they end with the workspace. `program`: the nats-server. */
  static async make(workspace: Workspace, program: string): Promise<HubTrio> {
    const secret = randomBytes(32).toString("base64");
    keepSecret(secret);
    const ports = await freePorts(9);
    const seeds = ports.slice(0, 3).map((port) => `127.0.0.1:${port}`);
    const hubs = seeds.map((_, at) =>
      trioHub(workspace, `hub-${at + 1}`, {
        env: { TAILRACE_NATS_SERVER: program, TAILRACE_CLUSTER_SECRET: secret },
        settings: {
          "discovery.seed_hosts": seeds,
          "transport.port": ports[at],
          "nats.route_port": ports[3 + at],
          "nats.port": ports[6 + at], // the same before the first start has ended, and after
        },
      }),
    );
    return new HubTrio(workspace, hubs, secret);
  }

  /** Starts them at once, as they found a store only together. */
  async start(): Promise<void> {
    await Promise.all(this.hubs.map((hub) => hub.start()));
  }

  /** Starts an agent that reads the files `paths` and knows all hubs. */
  async startAgent(name: string, paths: readonly string[]): Promise<AgentProcess> {
    const urls = this.hubs.map(({ natsUrl }) => natsUrl);
    const agent = await startAgent({
      folder: this.#workspace.path(name, ""),
      paths,
      natsUrl: urls[0]!,
      token: this.hubs[0]!.token,
      settings: { name, "output.pipeline.servers": urls },
      input: { id: "test", scan_frequency: "200ms" },
    });
    this.#workspace.defer(() => agent.kill9());
    return agent;
  }
}

/** Makes a hub that gets its secret by TAILRACE_CLUSTER_SECRET. */
export function trioHub(
  workspace: Workspace,
  name: string,
  { settings, env }: { readonly settings: Settings; readonly env: NodeJS.ProcessEnv },
): TestHub {
  const hub = new TestHub({
    dataDir: workspace.path(name, "data"),
    logFile: workspace.path(name, "hub.log"),
    settings: {
      "node.name": name,
      "cluster.secret": "$" + "{TAILRACE_CLUSTER_SECRET}",
      "journal.max_bytes": "64mb",
      ...settings,
    },
    env,
  });
  workspace.defer(() => hub.destroy());
  return hub;
}

/** Ends a hub and its nats-server as the loss of their machine would. */
export async function loseMachine(hub: TestHub): Promise<void> {
  await hub.destroy();
}
