import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import { readOptions } from "#hub/pipeline/language/plugin-options.ts";
import type { PluginNode } from "#hub/pipeline/language/syntax-tree.ts";
import { SourceText } from "#hub/pipeline/language/syntax-tree.ts";
import { decorationOptions } from "#hub/pipeline/plugins/decorations.ts";
import { filters } from "#hub/pipeline/plugins/filters/all.ts";
import { inputs } from "#hub/pipeline/plugins/inputs/all.ts";
import { outputs } from "#hub/pipeline/plugins/outputs/all.ts";
import { loadAllPlugins } from "./compile.ts";
import { INPUT_OPTIONS, OUTPUT_OPTIONS, pluginOptions } from "./compile-plugin.ts";
import { optionsHash } from "./plugin-ids.ts";

const KNOWN = JSON.parse(
  readFileSync(new URL(import.meta.resolve("#test/compat/plugin-ids.json")), "utf8"),
) as Record<string, string>;
const KINDS = {
  input: [inputs, INPUT_OPTIONS],
  filter: [filters, decorationOptions],
  output: [outputs, OUTPUT_OPTIONS],
} as const;

before(loadAllPlugins);

/** Returns the hash of a plugin that is written without options, or with one text. */
function hashOf(
  kind: keyof typeof KINDS,
  name: string,
  written?: readonly [name: string, value: string],
): string {
  const [set, common] = KINDS[kind];
  const range = { source: new SourceText("p.conf", ""), start: 0, end: 0 };
  const attributes =
    written === undefined
      ? []
      : [{ name: written[0], nameRange: range, value: { kind: "string", value: written[1], range } }];
  const node = { kind: "plugin", name, nameRange: range, range, attributes } as unknown as PluginNode;
  const schema = pluginOptions(common, set.get(name)!.options);
  return optionsHash(
    kind,
    node,
    readOptions(node, schema, name, {}, () => undefined),
  );
}

test("plugins without ids have the same ones as in earlier versions", () => {
  const found = Object.keys(KNOWN).map((plugin) => {
    const [kind, name] = plugin.split(" ") as [keyof typeof KINDS, string];
    return [plugin, hashOf(kind, name)];
  });
  assert.deepEqual(Object.fromEntries(found), KNOWN);
});

test("an option that came later counts where it is written", () => {
  const hash = hashOf("input", "http_poller", ["ssl_verification_mode", "none"]);
  assert.notEqual(hash, KNOWN["input http_poller"]);
});
