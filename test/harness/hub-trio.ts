/** Three hubs that find each other by discovery.seed_hosts, each with its own nats-server, as processes. */

import { randomBytes } from "node:crypto";
import { type AgentProcess, startAgent } from "./agent.ts";
import { COPIES } from "./cluster.ts";
import { freePorts } from "./free-ports.ts";
import { type Settings, TestHub } from "./hub.ts";
import { keepSecret } from "./secrets.ts";
import type { Workspace } from "./workspace.ts";

interface TrioOptions {
  readonly settings: Settings;
  readonly env: NodeJS.ProcessEnv;
}

export class HubTrio {
  readonly hubs: readonly TestHub[];
  /** Addresses of the hubs' nats-servers, known before they start. */
  readonly natsUrls: readonly string[];
  readonly #workspace: Workspace;
  readonly #options: readonly TrioOptions[];

  private constructor(workspace: Workspace, hubs: readonly TestHub[], options: readonly TrioOptions[]) {
    this.#workspace = workspace;
    this.hubs = hubs;
    this.#options = options;
    this.natsUrls = options.map(({ settings }) => `nats://127.0.0.1:${settings["nats.port"] as number}`);
  }

  /** Makes three or `count` hubs without starting them; they end with the workspace. `program`: the nats-server. */
  static async make(workspace: Workspace, program: string, count = 3): Promise<HubTrio> {
    const secret = randomBytes(32).toString("base64");
    keepSecret(secret);
    const ports = await freePorts(3 * count);
    // By name and by address: certificates hold both.
    const seeds = ports.slice(0, count).map((port, at) => `${at === 1 ? "localhost" : "127.0.0.1"}:${port}`);
    const options = seeds.map((_, at) => ({
      env: { TAILRACE_NATS_SERVER: program, TAILRACE_CLUSTER_SECRET: secret },
      settings: {
        "discovery.seed_hosts": seeds,
        "transport.port": ports[at],
        "nats.route_port": ports[count + at],
        "nats.port": ports[2 * count + at], // known before the first start
      },
    }));
    const hubs = options.map((each, at) => trioHub(workspace, `hub-${at + 1}`, each));
    return new HubTrio(workspace, hubs, options);
  }

  /** Starts them at once, as they found a store only together. */
  async start(): Promise<void> {
    await Promise.all(this.hubs.map((hub) => hub.start()));
  }

  /** Makes a hub without others on the data folder of the first one, at the same port for agents. */
  single(settings: Settings = {}): TestHub {
    const { dataDir, logFile } = this.hubs[0]!;
    const port = { "nats.port": this.#options[0]!.settings["nats.port"] };
    const hub = new TestHub({ dataDir, logFile, settings: { ...port, ...settings } });
    this.#workspace.defer(() => hub.kill9()); // its nats-server ends with the first hub's
    return hub;
  }

  /** Makes a further hub at the address of the third one, with other settings and a data folder of its own. */
  intruder(workspace: Workspace, name: string, settings: Settings): TestHub {
    const { env, settings: usual } = this.#options[2]!;
    const folder = `intruder-${Object.keys(settings).join() || name}`;
    return trioHub(workspace, folder, { env, settings: { ...usual, "node.name": name, ...settings } });
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
function trioHub(workspace: Workspace, name: string, { settings, env }: TrioOptions): TestHub {
  const hub = new TestHub({
    dataDir: workspace.path(name, "data"),
    logFile: workspace.path(name, "hub.log"),
    settings: {
      "node.name": name,
      "cluster.secret": "$" + "{TAILRACE_CLUSTER_SECRET}",
      "journal.max_bytes": "64mb",
      "cluster.copies": COPIES,
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
