/** A field with more and more distinct values in the same number of documents: most frequent ones and their number. */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { BenchmarkContext, Result } from "../benchmark.ts";
import { LINEAR, Series, sizesUpTo } from "./series.ts";
import type { ValueFigures } from "./values-run.ts";

const DOCUMENTS = 2_000_000;
/** Half of the documents: more would be a key. */
const VALUE_SHARE = 2;
const SIZES = 3;
const FACTOR = 10;
const SCRIPT = fileURLToPath(new URL("./values-run.ts", import.meta.url));

export async function growValues(context: BenchmarkContext): Promise<Result[]> {
  const { workspace, scale, docs, keep, progress } = context;
  const documents = Math.round(docs ?? DOCUMENTS * scale);
  const series = new Series("values");
  for (const size of sizesUpTo(Math.round(documents / VALUE_SHARE), SIZES, FACTOR)) {
    const folder =
      keep === undefined ? workspace.path("values", String(size)) : `${keep}/values-${documents}-${size}`;
    // The options of this process are those that a hub runs under.
    const args = [...process.execArgv, SCRIPT, folder, String(documents), String(size)];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const figures = JSON.parse(stdout) as ValueFigures[];
    series.add(
      size,
      figures.flatMap(({ name, firstMs, cpuMs }) => [
        { measure: name, unit: "CPU-ms", value: cpuMs, growth: LINEAR },
        { measure: `${name}, first`, unit: "ms", value: firstMs },
      ]),
    );
    progress(`${size} values of ${documents} documents\n${series.table()}`);
  }
  return series.results();
}
