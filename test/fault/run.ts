/** Runs fault tests: `npm run fault [-- NAME …] [--minutes N] [--seed S]`; see `--help`. */

import { ignoreClosedOutput } from "#proto/kit/process/standard-output.ts";
import { runNamed } from "#test/named-run.ts";

ignoreClosedOutput();
runNamed({
  folder: import.meta.dirname,
  about:
    "Runs the fault tests: processes killed, stopped and cut off while a model of what was acknowledged is kept.\nA name prints the result of every case, so that a table of cases can be read as one.",
  secondsVariable: "TAILRACE_FAULT_SECONDS",
  named: { agent: ["agent-cases.test.ts", "agent-raw.test.ts"] },
  byName: {
    cluster: "minutes of random faults with three hubs that share a NATS",
    copies: "files that are watched for half a minute each",
    damage: "a sweep of 186 cases, each with a hub of its own: 10 to 25 minutes",
    disk: "full disks, which take minutes",
    "disk-model": "minutes of random deeds on a disk that fills and empties",
    health: "faults that need half a minute each until health may say them",
    "join-and-drain": "four hubs under load for a minute",
    "node-loss": "faults that need half a minute each",
    "rolling-upgrade": "needs a built checkout of an older version, named by TAILRACE_FAULT_OLDER",
    ports: "ports that are taken for half a minute each",
    soak: "minutes of steady load",
    stalls: "stalls of half a minute each",
    "three-hubs": "minutes of random faults with three hubs that store the log together",
  },
  timeoutMinutes: 20,
});
