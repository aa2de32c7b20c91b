/** How long the lines of files paused during a fault: of those that it concerned, and of the others. */

import type { Fault } from "./cluster-faults.ts";

type Owners = ReadonlyMap<string, string>;

export class Pauses {
  readonly fault: Fault;
  /**
   * Pauses of the files that the faulty hub processed, or that another hub had after the fault than before; those of all for a
   * nats-server. The longest first, ms.
   */
  readonly concerned: readonly number[];
  readonly others: readonly number[];

  /** `longest`: by path, ms; `before`, `after`: the hub that processed each file. */
  constructor(fault: Fault, longest: ReadonlyMap<string, number>, before: Owners, after: Owners) {
    const isConcerned = (path: string): boolean =>
      fault.node === undefined ||
      before.get(path) === fault.node.name ||
      before.get(path) !== after.get(path);
    const pausesOf = (paths: string[]): number[] =>
      paths.map((path) => longest.get(path)!).sort((a, b) => b - a);
    const paths = [...longest.keys()];
    this.fault = fault;
    this.concerned = pausesOf(paths.filter(isConcerned));
    this.others = pausesOf(paths.filter((path) => !isConcerned(path)));
  }

  get longestMs(): number {
    return Math.max(0, ...this.concerned, ...this.others);
  }

  /** Returns both lists, for people. */
  describe(): string {
    return `of files that it concerns ${this.concerned.join(" ") || "-"}, of others ${this.others.join(" ") || "-"}`;
  }
}

/** Returns a line for each kind of fault: the longest pause of a file that it concerned, and of another one. */
export function summaryOf(pauses: readonly Pauses[]): string[] {
  return [...Map.groupBy(pauses, ({ fault }) => fault.kind)].map(([kind, each]) => {
    const concerned = Math.max(0, ...each.flatMap((one) => one.concerned));
    const others = Math.max(0, ...each.flatMap((one) => one.others));
    return `${each.length} of ${kind}: concerned ${concerned} ms, others ${others} ms`;
  });
}
