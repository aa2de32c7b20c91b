import assert from "node:assert/strict";
import { hostname } from "node:os";
import { test } from "node:test";
import type { Filter, FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { Event } from "#proto/event.ts";
import { aggregateFilter } from "./aggregate.ts";
import { elapsedFilter } from "./elapsed.ts";
import { metricsFilter } from "./metrics.ts";

/** A pipeline's context with a clock and places that the test moves. */
class World {
  nowMs = 1_000_000;
  at = 0;
  readonly faults: string[] = [];
  readonly context: FilterContext = {
    clock: { now: () => this.nowMs, monotonic: () => this.nowMs, sleep: () => Promise.resolve() },
    random: () => 0.5,
    place: () => this.at,
    shared: new Map(),
    guard: new RegexpGuard(),
    ecs: false,
    isChecked: false,
    variable: () => undefined,
    resolvePath: (path) => path,
    report: (_severity, _option, message) => void this.faults.push(message),
  };

  /** Runs an event through filters; returns what they added. */
  apply(fields: Record<string, unknown>, ...filters: readonly Filter[]): { event: Event; added: Event[] } {
    this.at++;
    const event = new Event(structuredClone(fields), this.nowMs);
    const added: Event[] = [];
    for (const filter of filters) filter.apply(event, (each) => added.push(each));
    return { event, added };
  }

  flush(...filters: readonly Filter[]): { event: Event; key: string }[] {
    const made: { event: Event; key: string }[] = [];
    for (const filter of filters) filter.flush?.((event, key) => made.push({ event, key }));
    return made;
  }
}

const AGGREGATE = {
  task_id: "%{id}",
  code: "map['sum'] ||= 0; map['sum'] += event.get('n')",
  map_action: "create_or_update",
  end_of_task: false,
  push_map_as_event_on_timeout: false,
  push_previous_map_as_event: false,
  timeout_tags: [],
  map_count_warning_threshold: 5000,
} as const;

type AggregateOptions = Parameters<typeof aggregateFilter.create>[0];

function aggregate(world: World, options: Partial<AggregateOptions>): Filter {
  return aggregateFilter.create({ ...AGGREGATE, timeout_tags: [], ...options }, world.context);
}

test("aggregate filters of one task_id share its map, and the log is held from the task's first event to its end", () => {
  const world = new World();
  const add = aggregate(world, {});
  const end = aggregate(world, {
    code: "event.set('total', map.sum)",
    map_action: "update",
    end_of_task: true,
  });
  world.apply({ id: "a", n: 1 }, add);
  world.apply({ id: "b", n: 10 }, add);
  world.apply({ id: "a", n: 2 }, add);
  world.apply({ n: 5 }, add);
  assert.equal(add.heldFrom?.(), 1);
  assert.equal(world.apply({ id: "a" }, end).event.fields["total"], 3);
  assert.equal(add.heldFrom?.(), 2);
  assert.equal(world.apply({ id: "unknown" }, end).event.fields["total"], undefined);
  assert.equal(world.apply({ id: "b" }, end).event.fields["total"], 10);
  assert.equal(add.heldFrom?.(), undefined);
});

test("a task that nothing ends becomes an event when its time is over", () => {
  const world = new World();
  const filter = aggregate(world, {
    timeout: 60,
    inactivity_timeout: 10,
    push_map_as_event_on_timeout: true,
    timeout_code: "event.set('double', event.get('sum') * 2)",
    timeout_task_id_field: "task",
    timeout_tags: ["late"],
  });
  world.apply({ id: "a", n: 3 }, filter);
  world.nowMs += 9_000;
  world.apply({ id: "a", n: 4 }, filter);
  world.nowMs += 9_000;
  assert.deepEqual(world.flush(filter), []);
  world.nowMs += 2_000;
  const [{ event, key } = { event: undefined, key: "" }] = world.flush(filter);
  const { "@timestamp": _, ...fields } = event!.fields;
  assert.deepEqual(fields, { sum: 7, double: 14, task: "a", tags: ["late"] });
  assert.equal(key, "a 1");
  assert.equal(filter.heldFrom?.(), undefined);
});

test("an event of another task brings the map of the one before it", () => {
  const world = new World();
  const filter = aggregate(world, { push_previous_map_as_event: true, timeout: 3 });
  world.apply({ id: "a", n: 1 }, filter);
  assert.deepEqual(world.apply({ id: "a", n: 1 }, filter).added, []);
  assert.deepEqual(
    world.apply({ id: "b", n: 5 }, filter).added.map(({ fields }) => fields["sum"]),
    [2],
  );
});

test("code that fails tags its event and harms no other", () => {
  const world = new World();
  const filter = aggregate(world, { code: "map.n.x = 1" });
  assert.deepEqual(world.apply({ id: "a" }, filter).event.fields["tags"], ["_aggregateexception"]);
  aggregate(world, { code: "map['x'] = {" });
  assert.match(world.faults[0] ?? "", /SyntaxError.*JavaScript/);
});

test("elapsed measures the time between start and end, and of starts whose end never came", () => {
  const world = new World();
  const options = {
    start_tag: "start",
    end_tag: "end",
    unique_id_field: "id",
    timeout: 30,
    new_event_on_match: false,
    keep_start_event: "first",
  } as const;
  const filter = elapsedFilter.create(options, world.context);
  world.apply({ id: 1, tags: ["start"] }, filter);
  world.nowMs += 2_500;
  world.apply({ id: 2, tags: ["start"] }, filter);
  assert.equal(filter.heldFrom?.(), 1);
  const { event } = world.apply({ id: 1, tags: ["end"] }, filter);
  assert.equal(event.fields["elapsed_time"], 2.5);
  assert.deepEqual(event.fields["tags"], ["end", "elapsed", "elapsed_match"]);
  assert.deepEqual(world.apply({ id: 1, tags: ["end"] }, filter).event.fields["tags"], [
    "end",
    "elapsed_end_without_start",
  ]);
  world.nowMs += 30_000;
  const [expired] = world.flush(filter);
  assert.deepEqual(
    [expired?.event.fields["id"], expired?.event.fields["tags"]],
    ["2", ["elapsed", "elapsed_expired_error"]],
  );
  assert.equal(filter.heldFrom?.(), undefined);
});

test("metrics reports counts, rates and percentiles at its interval, and resets where it is set to", () => {
  const world = new World();
  const filter = metricsFilter.create(
    {
      meter: ["events.%{kind}"],
      timer: { took: "%{ms}" },
      ignore_older_than: 0,
      flush_interval: 5,
      clear_interval: 10,
      rates: [1],
      percentiles: [50, 100],
    },
    world.context,
  );
  for (let ms = 1; ms <= 100; ms++) world.apply({ kind: ms % 2 === 0 ? "even" : "odd", ms }, filter);
  assert.deepEqual(world.flush(filter), []);
  world.nowMs += 5_000;
  const [told] = world.flush(filter);
  const fields = told!.event.fields as Record<string, Record<string, number>>;
  assert.equal(JSON.stringify(fields["events.odd"]), '{"count":50,"rate_1m":10.0}');
  assert.equal(
    JSON.stringify([fields["took"]?.["p50"], fields["took"]?.["p100"], fields["took"]?.["mean"]]),
    "[50.0,100.0,50.5]",
  );
  assert.equal(fields["took"]?.["stddev"]?.toFixed(3), "29.011");
  assert.equal(fields["message"], hostname());
  world.nowMs += 5_000;
  assert.equal(world.flush(filter).length, 1);
  world.nowMs += 5_000;
  assert.deepEqual(world.flush(filter), []);
});
