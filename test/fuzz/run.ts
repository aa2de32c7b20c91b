/** Runs fuzz tests: `npm run fuzz [-- NAME …] [--minutes N] [--seed S]`; see `--help`. */

import { ignoreClosedOutput } from "#proto/kit/process/standard-output.ts";
import { runNamed } from "#test/named-run.ts";

ignoreClosedOutput();
runNamed({
  folder: import.meta.dirname,
  about: "Runs the fuzz tests and prints the seed of each failure.",
  secondsVariable: "TAILRACE_FUZZ_SECONDS",
  defaultSeconds: 60,
  byName: { painless: "measures how long the thread is held, which says little beside other tests" },
  timeoutMinutes: 10,
  together: ["engine", "kernel", "oracle", "pipelines", "ingest"],
});
