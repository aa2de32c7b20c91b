/** What happens to a cluster: one fault at a time, each healed before the next. */

import { systemClock } from "#proto/kit/clock.ts";
import type { TestNats } from "#test/harness/nats.ts";
import type { TcpProxy } from "#test/harness/tcp-proxy.ts";
import type { Node, World } from "./cluster-world.ts";

/** Beyond 13 s others take the partitions over; shorter faults must not harm either. */
const LONGEST_MS = 30_000;
const LONGEST_OF_NATS_MS = 12_000;
const DELAY_MS = 40;

type HubFault = (node: Node, ms: number) => Promise<void>;

const onLinks =
  (begin: (link: TcpProxy) => void): HubFault =>
  async ({ links }, ms) => {
    for (const link of links) begin(link);
    await systemClock.sleep(ms);
    for (const link of links) link.heal();
  };

const HUB_FAULTS: Readonly<Record<string, HubFault>> = {
  "kill -9": async ({ hub }, ms) => {
    await hub.kill9();
    await systemClock.sleep(ms);
    await hub.start();
  },
  stop: async ({ hub }, ms) => {
    await hub.stop();
    await systemClock.sleep(ms / 4);
    await hub.start();
  },
  "standing still": async ({ hub }, ms) => {
    hub.signal("SIGSTOP");
    await systemClock.sleep(ms);
    hub.signal("SIGCONT");
  },
  cut: onLinks((link) => link.cut()),
  "silence of both directions": onLinks((link) => link.silence("up", "down")),
  "silence to NATS": onLinks((link) => link.silence("up")),
  "silence from NATS": onLinks((link) => link.silence("down")),
  delay: onLinks((link) => link.delay(DELAY_MS)),
};

const NATS_FAULTS: Readonly<Record<string, (server: TestNats, ms: number) => Promise<void>>> = {
  "kill -9": async (server, ms) => {
    await server.kill9();
    await systemClock.sleep(ms);
    await server.restart();
  },
  "standing still": async (server, ms) => {
    server.pause();
    await systemClock.sleep(ms);
    server.resume();
  },
};

/** A fault of one hub or nats-server. */
export interface Fault {
  /** Such as `cut of hub-2 for 12345 ms`. */
  readonly name: string;
  /** Such as `cut of a hub`. */
  readonly kind: string;
  /** The hub that it concerns; undefined: a nats-server, which concerns all. */
  readonly node: Node | undefined;
  /** Number of the nats-server that it concerns. */
  readonly server: number | undefined;
  /** Resolves when it is healed. */
  readonly happen: () => Promise<void>;
}

/** Names of the kinds that happen, such as `cut` or `kill -9 of a nats-server`, with commas between; empty: all. */
const CHOSEN = (process.env["TAILRACE_FAULT_KINDS"] ?? "").split(",").filter((kind) => kind !== "");

/** Every kind of fault by the process that it concerns, so that a run begins with each of them once. */
const KINDS: readonly (readonly [of: "hub" | "nats", kind: string])[] = [
  ...Object.keys(HUB_FAULTS).map((kind) => ["hub", kind] as const),
  ...Object.keys(NATS_FAULTS).map((kind) => ["nats", kind] as const),
].filter(
  ([of, kind]) => CHOSEN.length === 0 || [kind, kindOf(of, kind)].some((each) => CHOSEN.includes(each)),
);

/** Yields faults until `endMs` (monotonic): all kinds in random order, again and again. */
export function* faults(world: World, endMs: number, random: () => number): Generator<Fault> {
  for (;;) {
    for (const [of, kind] of shuffled(KINDS, random)) {
      if (systemClock.monotonic() >= endMs) return;
      yield of === "hub" ? faultOfHub(world, kind, random) : faultOfNats(world, kind, random);
    }
  }
}

function faultOfHub({ nodes }: World, kind: string, random: () => number): Fault {
  const node = nodes[Math.floor(random() * nodes.length)]!;
  const ms = Math.round(random() * LONGEST_MS);
  return {
    name: `${kind} of ${node.name} for ${ms} ms`,
    kind: kindOf("hub", kind),
    node,
    server: undefined,
    happen: async () => {
      node.isFaulty = true;
      await HUB_FAULTS[kind]!(node, ms);
    },
  };
}

function faultOfNats({ servers }: World, kind: string, random: () => number): Fault {
  const at = Math.floor(random() * servers.length);
  const ms = Math.round(random() * LONGEST_OF_NATS_MS);
  return {
    name: `${kind} of nats-${at} for ${ms} ms`,
    kind: kindOf("nats", kind),
    node: undefined,
    server: at,
    happen: () => NATS_FAULTS[kind]!(servers[at]!, ms),
  };
}

function kindOf(of: "hub" | "nats", kind: string): string {
  return `${kind} of a ${of === "hub" ? "hub" : "nats-server"}`;
}

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  const keyed = values.map((value) => [random(), value] as const);
  return keyed.sort(([a], [b]) => a - b).map(([, value]) => value);
}
