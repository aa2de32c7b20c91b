/**
 * `npm run bench -- NAME`: measures and prints a line for each case, or with `--json`
 * `{name, machine, results: [{case, value, unit, reference, ratio}]}`; where a case has a target, whether it `passed`.
 * A case that couldn't be measured has its `failure`, and the exit status is 1. See `--help`.
 */

import { ignoreClosedOutput } from "#proto/kit/process/standard-output.ts";
import { UsageError } from "./benchmark.ts";
import { runBenchmark } from "./command.ts";

const EXIT_USAGE = 2;

ignoreClosedOutput();
try {
  await runBenchmark(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`bench: ${error.message}\n`);
  process.exitCode = EXIT_USAGE;
}
