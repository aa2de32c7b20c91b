/**
 * Access logs as other stores get them: through bulk requests of a hub until that is at rest, and questions to one shard:
 * milliseconds and CPU of the process, warm. The answers
 * are compared with the generator's own counts. Beside them stands the CPU of the best other store for 500,000 documents,
 * where it was measured (docs/benchmarks.md).
 */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ACCESS_CASES } from "./access-cases.ts";
import { ingestAccess } from "./access-ingest.ts";
import type { AccessFigures } from "./access-run.ts";
import type { Benchmark, Result } from "./benchmark.ts";

const DOCUMENTS = 500_000;
const SCRIPT = fileURLToPath(new URL("./access-run.ts", import.meta.url));

export const access: Benchmark = {
  name: "access",
  about:
    "access logs: ingest by bulk, disk, questions with CPU-ms beside other stores; --docs N, --keep FOLDER, --only TEXT",
  async run(context) {
    const { workspace, scale, docs, keep, only, progress } = context;
    const documents = docs ?? Math.round(DOCUMENTS * scale);
    const folder = keep ?? workspace.path("access", "data");
    progress(`${documents} documents`);
    // The options of this process are those that a hub runs under.
    const args = [...process.execArgv, SCRIPT, folder, String(documents), only];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const figures = JSON.parse(stdout) as AccessFigures[];
    const ingest = "ingest".includes(only) ? await ingestAccess(context, documents) : [];
    const asked = figures.flatMap(({ name, firstMs, medianMs, cpuMs }): Result[] => {
      const { peerMs } = ACCESS_CASES.find((each) => each.name === name)!;
      const reference =
        peerMs === undefined || documents !== DOCUMENTS ? null : { name: "best other store", value: peerMs };
      return [
        { case: name, value: cpuMs, unit: "CPU-ms", reference },
        { case: `${name}, median`, value: medianMs, unit: "ms", reference: null },
        { case: `${name}, first`, value: firstMs, unit: "ms", reference: null },
      ];
    });
    return [...ingest, ...asked];
  },
};
