/** A hub with an agent that ships to it: the whole way of a line, as two processes and a nats-server. */

import { type AgentProcess, startAgent } from "./agent.ts";
import { type Settings, TestHub } from "./hub.ts";
import type { Workspace } from "./workspace.ts";

export interface StackOptions {
  readonly hubSettings?: Settings;
  readonly hubEnv?: NodeJS.ProcessEnv;
  /** Program and arguments that run the agent. */
  readonly agentWrapper?: readonly string[];
  /** Dotted keys of agent.yml. */
  readonly agentSettings?: Settings;
  /** Options of the agent's one `log` input, `paths` among them. */
  readonly input: Settings & { readonly paths: readonly string[] };
}

/** An agent that can be killed and started again on the same registry. */
export class TestAgent {
  readonly #start: () => Promise<AgentProcess>;
  #process: AgentProcess | undefined;

  constructor(hub: TestHub, workspace: Workspace, { input, agentSettings, agentWrapper }: StackOptions) {
    const { paths, ...options } = input;
    this.#start = () =>
      startAgent({
        folder: workspace.path("agent", ""),
        paths,
        natsUrl: hub.natsUrl,
        token: hub.token,
        settings: { name: "web-1", ...agentSettings },
        ...(agentWrapper === undefined ? {} : { wrapper: agentWrapper }),
        input: { id: "test", scan_frequency: "200ms", ...options },
      });
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Address of /health and /metrics. */
  get statusUrl(): string {
    return this.#process?.statusUrl ?? "";
  }

  async start(): Promise<void> {
    this.#process = await this.#start();
  }

  /** Stops it as an operator would. Throws unless it ends with status 0. */
  async stop(): Promise<void> {
    const status = await this.#process?.stop();
    if (status !== 0 && status !== undefined)
      throw new Error(`the agent ended with ${status}; see agent.out`);
  }

  async kill9(): Promise<void> {
    await this.#process?.kill9();
  }
}

export interface Stack {
  readonly hub: TestHub;
  readonly agent: TestAgent;
}

/** Starts both; they end with the workspace. */
export async function startStack(workspace: Workspace, options: StackOptions): Promise<Stack> {
  const hub = new TestHub({
    dataDir: workspace.path("hub-data"),
    ...(options.hubSettings === undefined ? {} : { settings: options.hubSettings }),
    ...(options.hubEnv === undefined ? {} : { env: options.hubEnv }),
  });
  workspace.defer(() => hub.destroy());
  await hub.start();
  const agent = new TestAgent(hub, workspace, options);
  workspace.defer(() => agent.kill9());
  await agent.start();
  return { hub, agent };
}
