/** Entry of the agent's process. */

import { StandardOutput } from "#proto/kit/process/standard-output.ts";
import { main } from "./cli.ts";

const output = new StandardOutput("tailrace-agent");
process.exitCode = await output.finish(await main(process.argv.slice(2), process.env));
