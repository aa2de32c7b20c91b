/** The live side of a hub as a process of its own: `tail-hub.ts` as the benchmarks drive it. */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Workspace } from "#test/harness/workspace.ts";
import type { TailHubRequest } from "./tail-hub.ts";

/** A running one; `stop`, or the workspace's end, ends it. */
export class TailHub {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(workspace: Workspace): Promise<TailHub> {
    const child = fork(join(import.meta.dirname, "tail-hub.ts"), { execArgv: ["--expose-gc"] });
    workspace.defer(() => child.kill());
    const [{ url }] = (await once(child, "message")) as [{ url: string }];
    return new TailHub(child, url);
  }

  async offer(rate: number, forMs: number): Promise<number> {
    return (await this.#ask({ rate, forMs }))["offered"]!;
  }

  async rssBytes(): Promise<number> {
    return (await this.#ask({ rss: true }))["rss"]!;
  }

  stop(): void {
    this.#child.disconnect();
  }

  async #ask(request: TailHubRequest): Promise<Readonly<Record<string, number>>> {
    const answered = once(this.#child, "message");
    this.#child.send(request);
    return ((await answered) as [Record<string, number>])[0];
  }
}
