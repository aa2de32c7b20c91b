/** The foreign cases that the pipeline is held against. */

import { readFileSync } from "node:fs";
import { SourceText } from "#hub/pipeline/language/syntax-tree.ts";
import type { NameAnswer, Names } from "#hub/pipeline/plugins/host-names.ts";
import { type Compiled, compilePipeline, loadAllPlugins } from "#hub/pipeline/program/compile.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { suiteFile } from "#test/conformance/shared-suites.ts";

await loadAllPlugins();

/** Returns the cases of a file of the suite, or why there are none. */
export function readCases<T>(name: string): {
  readonly cases: readonly T[];
  readonly missing: string | false;
} {
  const { path, missing } = suiteFile("pipeline", name);
  if (missing !== false) return { cases: [], missing };
  return { cases: JSON.parse(readFileSync(path, "utf8")) as T[], missing: false };
}

/** The names and addresses that the cases ask for; everything else is unknown. */
const HOSTS: Readonly<Record<string, string>> = {
  "carrera.databits.net": "199.192.228.250",
  localhost: "127.0.0.1",
};

function answer(found: string | undefined): NameAnswer {
  return found === undefined ? { kind: "missing" } : { kind: "found", value: found };
}

const names: Names = {
  resolve: (name) => answer(HOSTS[name]),
  reverse: (address) => answer(Object.keys(HOSTS).find((name) => HOSTS[name] === address)),
};

/** Compiles a pipeline's text by itself, without an environment. */
export function compileText(text: string): Compiled {
  const guard = new RegexpGuard();
  return compilePipeline([new SourceText("case.conf", text)], {
    variables: {},
    clock: systemClock,
    random: Math.random,
    guard,
    names,
  });
}
