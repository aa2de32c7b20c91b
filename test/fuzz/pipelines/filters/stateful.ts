/** Filters that count events: throttle, aggregate. */

import type { Dice } from "#test/fuzz/oracle/dice.ts";
import type { PlainFilter } from "../configuration.ts";
import { sprintf } from "../sprintf.ts";
import { textOf } from "../values.ts";

export function throttle(dice: Dice): PlainFilter {
  const key = dice.pick(["%{b}", "x", "%{n}", "%{[n][x]}-%{b}"]);
  const [before, after] = [
    dice.chance(0.5) ? dice.below(4) : undefined,
    dice.chance(0.7) ? dice.below(4) : undefined,
  ];
  const period = dice.pick([undefined, "60", "3600", "86400", "%{c}"]);
  const created = new Map<string, number>();
  const counts = new Map<string, number>();
  return {
    name: "throttle",
    options: { key, before_count: before, after_count: after, period, max_age: 1_000_000_000 },
    apply(event, { matched }) {
      const name = sprintf(event, key);
      const seconds =
        period === undefined ? 60 : (/^\s*([-+]?[0-9]+)/.exec(sprintf(event, period))?.[1] ?? 0);
      const length = Number(seconds) === 0 ? 60 : Number(seconds);
      const epoch = Math.floor(event.time.ms / 1000);
      const first = created.get(name) ?? epoch;
      created.set(name, first);
      const slot = epoch - ((((epoch - first) % length) + length) % length);
      const count = (counts.get(`${slot} ${name}`) ?? 0) + 1;
      counts.set(`${slot} ${name}`, count);
      if ((before !== undefined && count < before) || (after !== undefined && count > after)) matched(event);
    },
  };
}

/** Filters of a pipeline share the maps of tasks whose ids are formed alike. */
const shared = new WeakMap<Dice, Map<string, Map<string, bigint>>>();

function mapsOf(dice: Dice, task: string): Map<string, bigint> {
  const ofPipeline = shared.get(dice) ?? new Map<string, Map<string, bigint>>();
  shared.set(dice, ofPipeline);
  const maps = ofPipeline.get(task) ?? new Map<string, bigint>();
  ofPipeline.set(task, maps);
  return maps;
}

/** Counts events by task; the code is the product's language. */
export function aggregate(dice: Dice): PlainFilter {
  const task = dice.pick(["%{b}", "%{a}-", "%{[n][x]}", "%{[@metadata][m]}"]);
  const action = dice.pick([undefined, "create", "update", "create_or_update"]);
  const ends = dice.chance(0.2);
  const maps = mapsOf(dice, task);
  return {
    name: "aggregate",
    options: {
      task_id: task,
      code: "map['count'] = (map['count'] || 0) + 1; event.set('count', map['count']);",
      map_action: action,
      end_of_task: ends ? true : undefined,
    },
    apply(event, { matched }) {
      const id = sprintf(event, task);
      if (textOf(id) === "" || id === task) return;
      const known = maps.get(id);
      if (action === "create" ? known !== undefined : action === "update" && known === undefined) return;
      const count = (known ?? 0n) + 1n;
      event.set("count", count);
      if (ends) maps.delete(id);
      else maps.set(id, count);
      matched(event);
    },
  };
}
