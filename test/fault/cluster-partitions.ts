/** Whom a fault concerns: which hub processes the lines of each file, and what a nats-server does for the others. */

import { readFileSync } from "node:fs";
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { decodeTable, PARTITIONS_KEY } from "#hub/cluster/allocation/partition-table.ts";
import { decodeMember, MEMBERS_BUCKET, memberKey } from "#hub/cluster/membership/member-record.ts";
import { DOC_STREAM, partitionOf, RAW_STREAM } from "#proto/subjects.ts";
import { readRaw } from "#test/harness/agent.ts";
import { until } from "#test/harness/until.ts";
import type { Workspace } from "#test/harness/workspace.ts";
import type { World } from "./cluster-world.ts";

/** A message of the agent's log. */
const CONNECTED = /"server":"[^"]*:(\d+)","msg":"connected to the hub"/g;

/** Time for an answer; it is asked again until a minute is over, as a leader may be elected. */
const ANSWER_MS = 1_000;

export class FilePartitions {
  readonly #world: World;
  readonly #manager: JetStreamManager;
  /** By path of a file. */
  readonly #partitions: ReadonlyMap<string, number>;

  private constructor(world: World, manager: JetStreamManager, partitions: ReadonlyMap<string, number>) {
    this.#world = world;
    this.#manager = manager;
    this.#partitions = partitions;
  }

  /** Finds the partition of each file by its first lines, which the log must still have. */
  static async read(workspace: Workspace, world: World): Promise<FilePartitions> {
    const { servers, token } = world;
    const nats = await connect({ servers: servers.map(({ url }) => url), token, maxReconnectAttempts: -1 });
    workspace.defer(() => nats.close());
    const manager = await jetstreamManager(nats, { checkAPI: false, timeout: ANSWER_MS });
    const partitions = new Map<string, number>();
    for (const { batch } of await readRaw(nats)) {
      const { path = "", fileKey = "" } = batch.block?.source ?? {};
      partitions.set(path ?? "", partitionOf(batch.agentId ?? "", fileKey ?? ""));
    }
    return new FilePartitions(world, manager, partitions);
  }

  /** Returns the name of the hub that each file's lines are processed by, by the file's path. */
  owners(): Promise<ReadonlyMap<string, string>> {
    return until("the table of partitions", async () => {
      const { members, owners } = decodeTable(await this.#value(PARTITIONS_KEY));
      const names = await Promise.all(
        members.map(async ({ id }) => decodeMember(await this.#value(memberKey(id))).name),
      );
      return new Map([...this.#partitions].map(([path, at]) => [path, names[owners[at]!] ?? "no hub"]));
    });
  }

  /** Returns what would stand still without the nats-server: its streams with lines and documents, and who is connected to it. */
  rolesOf(at: number): Promise<readonly string[]> {
    const { nodes, servers, agentOutput } = this.#world;
    return until("the leaders of the streams", async () => {
      const led = await Promise.all(
        [RAW_STREAM, DOC_STREAM].map(async (name) => {
          const { cluster } = await this.#manager.streams.info(name);
          return cluster?.leader === `nats-${at}` ? [`leader of ${name}`] : [];
        }),
      );
      const hubs = nodes
        .filter(({ links }) => links[at]!.connections > 0)
        .map(({ name }) => `server of ${name}`);
      const connected = [...readFileSync(agentOutput, "utf8").matchAll(CONNECTED)];
      const isAgents = connected.at(-1)?.[1] === String(servers[at]!.port);
      return [...led.flat(), ...hubs, ...(isAgents ? ["server of the agent"] : [])];
    });
  }

  async #value(key: string): Promise<Uint8Array> {
    const query = { last_by_subj: `$KV.${MEMBERS_BUCKET}.${key}` };
    const found = await this.#manager.streams.getMessage(`KV_${MEMBERS_BUCKET}`, query);
    return found?.data ?? new Uint8Array();
  }
}
