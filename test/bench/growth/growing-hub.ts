/** A hub whose size grows between measurements: what a request, a start and a stretch of work take. */

import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { MIB } from "#proto/kit/units.ts";
import { ask } from "#test/harness/http.ts";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { cpuSeconds, residentBytes } from "#test/harness/processes.ts";
import type { Workspace } from "#test/harness/workspace.ts";
import { post } from "../clients.ts";
import { bytesBelow, cpuOf, filesBelow } from "../hub-usage.ts";
import type { Sample } from "./series.ts";

/** A request is repeated until it had so much CPU, at least and at most so often; before that to warm the compilers. */
const CPU_SECONDS = 0.3;
const FEWEST = 5;
const MOST = 200;
/** At rest: the files stay for so long. A merge may work for a fifth of its thread's time, and writes all the while. */
const LOOK_MS = 5_000;
const SAME_LOOKS = 3;
const MOST_LOOKS = 200;
const IDLE_MS = 10_000;

/** A request as it is measured: without a body it is a GET. */
export interface Question {
  readonly path: string;
  /** Address of the interface; without it the search interface. */
  readonly site?: string;
  readonly body?: unknown;
}

export class GrowingHub {
  readonly hub: TestHub;

  private constructor(hub: TestHub) {
    this.hub = hub;
  }

  /** Starts it; it ends with the workspace. */
  static async start(workspace: Workspace, name: string): Promise<GrowingHub> {
    const hub = await startHub({ dataDir: workspace.path(name), logFile: workspace.path(`${name}.log`) });
    workspace.defer(() => hub.destroy());
    return new GrowingHub(hub);
  }

  url(path: string): string {
    return `${this.hub.searchUrl}${path}`;
  }

  ask<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    return ask<T>(method, this.url(path), body);
  }

  /** CPU-seconds of hub and nats-server while `work` runs. */
  async cpuOf(work: () => Promise<unknown>): Promise<number> {
    const sum = (): number => cpuOf(this.hub).reduce((total, seconds) => total + seconds, 0);
    const before = sum();
    await work();
    return sum() - before;
  }

  /** CPU-ms of the hub for an answer, after some that aren't counted. Throws for an answer that isn't 2xx. */
  async cpuMsOf(question: Question): Promise<number> {
    const agent = new Agent({ keepAlive: true });
    try {
      await this.#repeat(agent, question);
      return await this.#repeat(agent, question);
    } finally {
      agent.destroy();
    }
  }

  async #repeat(agent: Agent, question: Question): Promise<number> {
    const before = cpuSeconds(this.hub.pid);
    let asked = 0;
    while (asked < FEWEST || (asked < MOST && cpuSeconds(this.hub.pid) - before < CPU_SECONDS)) {
      await this.#once(agent, question);
      asked++;
    }
    return ((cpuSeconds(this.hub.pid) - before) * 1000) / asked;
  }

  /** CPU-seconds from the start of hub and nats-server until they are ready and `andThen` is done. They are stopped in order before. */
  async restart(andThen: () => Promise<unknown> = () => Promise.resolve()): Promise<number> {
    await this.hub.stop();
    await this.hub.start();
    await andThen();
    return cpuOf(this.hub).reduce((total, seconds) => total + seconds, 0);
  }

  /** Waits until no merge runs and none is due: statistics count only those that a request forces. Throws where that takes too long. */
  async untilAtRest(): Promise<void> {
    let before = "";
    for (let look = 0, same = 0; look < MOST_LOOKS; look++) {
      await sleep(LOOK_MS);
      const now = filesBelow(this.hub, "engine")
        .map(({ name, bytes }) => `${name} ${bytes}`)
        .join();
      same = now === before ? same + 1 : 0;
      if (same >= SAME_LOOKS) return;
      before = now;
    }
    throw new Error(`files of the engine still change after ${(MOST_LOOKS * LOOK_MS) / 1000} seconds`);
  }

  /** CPU-ms a second without requests. */
  async idleCpuMs(): Promise<number> {
    return ((await this.cpuOf(() => sleep(IDLE_MS))) * 1_000_000) / IDLE_MS;
  }

  memory(): Sample {
    return { measure: "memory of the hub", unit: "MiB", value: residentBytes(this.hub.pid) / MIB };
  }

  /** The engine's files. */
  diskMib(): number {
    return bytesBelow(this.hub, "engine") / MIB;
  }

  async #once(agent: Agent, { path, site = this.hub.searchUrl, body }: Question): Promise<void> {
    if (body === undefined) {
      await ask("GET", `${site}${path}`);
      return;
    }
    const answer = await post(
      agent,
      `${site}${path}`,
      typeof body === "string" ? body : JSON.stringify(body),
    );
    if (answer.startsWith('{"error"')) throw new Error(`${path} answered ${answer.slice(0, 500)}`);
  }
}
