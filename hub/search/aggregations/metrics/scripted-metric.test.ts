/** States of `scripted_metric` between hubs of this version and of those that took 5.0 for 5. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { CollectBudget } from "#hub/search/aggregations/tree/aggregation.ts";
import type { AggregationContext } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import { ShardContext } from "#hub/search/query/query.ts";
import { decodeValue } from "#hub/search/wire/value-reader.ts";
import { encodeValue } from "#hub/search/wire/value-writer.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { scriptedMetric } from "./scripted-metric.ts";

const index = new IndexFixture({
  mapping: { properties: { d: { type: "double" }, n: { type: "long" } } },
  docs: ['{"d":1.5,"n":9007199254740993}', { d: 3.5, n: 1 }],
});
after(() => index.close());

interface State {
  readonly states: readonly unknown[];
  readonly exact?: readonly unknown[];
}

function metricOf(combine: string): ReturnType<typeof scriptedMetric.parse> {
  const body = {
    init_script: "state.all = []; state.sum = 0.0",
    map_script: "state.all.add(doc.n.value); state.sum += doc.d.value",
    combine_script: combine,
    reduce_script: "def sum = 0; for (s in states) { sum += s.sum / 2 } return sum",
  };
  return scriptedMetric.parse(body, { name: "m" } as AggregationContext);
}

/** Returns the state of all documents as another hub reads it. */
function stateOf(combine: string): State {
  const [{ index: name, searcher }] = index.shards as [(typeof index.shards)[0]];
  const collector = metricOf(combine).collector(new ShardContext(name, 0, searcher, 0), new CollectBudget());
  for (const segment of searcher.segments) {
    collector.segment(segment);
    collector.collect(Int32Array.of(0, 1), Int32Array.of(0, 0), 2);
  }
  return decodeValue(encodeValue(collector.state(0))) as State;
}

test("a state has plain numbers for hubs that read no others, and exact ones beside them", () => {
  const { states, exact } = stateOf("state");
  assert.deepEqual(states, [{ all: [9_007_199_254_740_992, 1], sum: 5 }]);
  assert.equal(writeJson(exact), '[{"all":[9007199254740993,1],"sum":5.0}]');
  assert.deepEqual(stateOf("['sum': state.sum + 0.5, 'n': 1]"), { states: [{ sum: 5.5, n: 1 }] });
});

test("states of both kinds of hubs are reduced together", () => {
  const metric = metricOf("state");
  const merged = metric.merge([{ states: [{ sum: 3 }] }, stateOf("state")]) as State;
  assert.equal(writeJson(merged.states), '[{"sum":3},{"all":[9007199254740992,1],"sum":5}]');
  const { value } = metric.render(merged, undefined as never) as JsonObject;
  assert.equal(writeJson(value), "3.5");
});
