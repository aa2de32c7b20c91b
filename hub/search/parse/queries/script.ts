/** `script`: the documents for which a script is true. */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { Script } from "#hub/scripts/script.ts";
import { SetNode } from "#hub/search/execute/nodes/documents.ts";
import { anything, required } from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";
import type { QueryDescription, ScoreMode, ShardContext, Weight } from "#hub/search/query/query.ts";
import { documentsWhere, readConditionScript } from "#hub/search/scripting/document-script.ts";

const OPTIONS = {
  script: required(anything("Painless with doc and params; a boolean")),
} as const;

export const script: QueryType = {
  name: "script",
  summary: "The documents for which a script is true.",
  options: OPTIONS,
  parse(body) {
    const options = readBody("script", body, OPTIONS);
    return withBoost(new ScriptNode(readConditionScript(options.script)), options);
  },
};

class ScriptNode extends SetNode {
  readonly #script: Script;

  constructor(given: Script) {
    super();
    this.#script = given;
  }

  describe(): QueryDescription {
    return { type: "ScriptQuery", text: `script(${this.#script.compiled.source})` };
  }

  override weight(shard: ShardContext, mode: ScoreMode): Weight {
    shard.checkExpensive("[script] queries");
    return super.weight(shard, mode);
  }

  protected override select(segment: SegmentReader, shard: ShardContext): Bitset | null {
    const steps = this.selectInSteps(segment, shard);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  protected override selectInSteps(segment: SegmentReader, shard: ShardContext): Generator<void, Bitset> {
    return documentsWhere(this.#script, shard, segment);
  }
}
