/** Hubs of a cluster as processes, each behind links that can be cut, with nats-servers and an agent. */

import { type AgentProcess, startAgent } from "#test/harness/agent.ts";
import { clusterHub, untilShared } from "#test/harness/cluster.ts";
import { canCluster, clusteredNats } from "#test/harness/clustered-nats.ts";
import type { Settings, TestHub } from "#test/harness/hub.ts";
import { findBinary, type TestNats } from "#test/harness/nats.ts";
import { startNatsCluster } from "#test/harness/nats-cluster.ts";
import { TcpProxy } from "#test/harness/tcp-proxy.ts";
import type { Workspace } from "#test/harness/workspace.ts";

const RAW_AND_DOC_BYTES = "256mb";

/** A hub with its links to each nats-server. */
export interface Node {
  readonly name: string;
  readonly hub: TestHub;
  readonly links: readonly TcpProxy[];
  /** True while a fault concerns it. */
  isFaulty: boolean;
  /** From when on the other hubs' refreshes reach it again, monotonic ms. */
  reachedMs: number;
}

export interface World {
  readonly nodes: readonly Node[];
  /** Starts one more hub, which isn't one of `nodes`. */
  readonly startNode: (number: number) => Promise<Node>;
  readonly servers: readonly TestNats[];
  /** With which hubs and agent sign in to the nats-servers. */
  readonly token: string;
  readonly agent: AgentProcess;
  /** File with the agent's log messages. */
  readonly agentOutput: string;
}

/**
 * Starts three nats-servers, or one where `natsProgram` is too old for more; `hubs` hubs, with `more` settings; and an agent
 * for `paths`. `launcher`: another program of the hubs than this checkout's.
 */
export async function startWorld(
  workspace: Workspace,
  hubs: number,
  paths: readonly string[],
  more: Settings = {},
  launcher?: string,
): Promise<World> {
  const program = natsProgram();
  const { servers, token } = await startNatsCluster(workspace, canCluster(program) ? 3 : 1, program);
  const startNode = async (number: number): Promise<Node> => {
    const links = await Promise.all(servers.map(({ port }) => TcpProxy.start(port)));
    for (const link of links) workspace.defer(() => link.stop());
    const urls = links.map(({ port }) => `nats://127.0.0.1:${port}`);
    const settings = {
      "journal.max_bytes": RAW_AND_DOC_BYTES,
      "nats.replicas": servers.length,
      ...more,
    };
    const hub = clusterHub(workspace, `hub-${number}`, { servers: urls, token }, settings);
    if (launcher !== undefined) hub.launcher = launcher;
    await hub.start();
    return { name: `hub-${number}`, hub, links, isFaulty: false, reachedMs: 0 };
  };
  const nodes: Node[] = [];
  for (let number = 1; number <= hubs; number++) nodes.push(await startNode(number));
  await untilShared(nodes.map(({ hub }) => hub));
  const agent = await startAgent({
    folder: workspace.path("web-1", ""),
    paths,
    natsUrl: servers[0]!.url,
    token,
    settings: { name: "web-1", "output.pipeline.servers": servers.map(({ url }) => url) },
    input: { id: "test", scan_frequency: "200ms" },
  });
  workspace.defer(() => agent.kill9());
  return { nodes, startNode, servers, token, agent, agentOutput: workspace.path("web-1", "agent.out") };
}

/** Returns the nats-server that TAILRACE_NATS_SERVER names, else one of which several may form a cluster, else any. */
function natsProgram(): string {
  const isNamed = process.env["TAILRACE_NATS_SERVER"] !== undefined;
  return (isNamed ? undefined : clusteredNats()) ?? findBinary();
}
