/** The command line of the agent. */

import { parseArgs } from "node:util";
import { Type } from "typebox";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { createLogger } from "#proto/kit/log.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import { ServiceManager } from "#proto/kit/sd-notify.ts";
import { describeSettings } from "#proto/kit/settings.ts";
import { Agent } from "./agent.ts";
import { checkOutput } from "./commands/check-output.ts";
import { enroll } from "./commands/enroll.ts";
import { setup } from "./commands/setup.ts";
import { type AgentSettings, inputSchema, loadSettings } from "./config.ts";
import { INPUTS } from "./inputs/all.ts";
import { exportRows, importRows, type Rows, readRows, resetFile } from "./registry/command.ts";
import { Reloader } from "./reload.ts";
import { SETTINGS_SCHEMA } from "./settings.ts";
import { SHIPPER_VERSION, VERSION } from "./version.ts";

/** Exit statuses of all commands. */
const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

const COMMANDS = ["run", "test", "registry", "setup", "enroll"];
/** Commands with a word after them, and those with two. */
const WITH_ARGUMENT = ["test", "registry", "enroll"];
const WITH_OPERAND = ["registry", "enroll"];

const HELP = `tailrace-agent ${VERSION}: ships log lines to a Tailrace hub, none lost.

usage: tailrace-agent [run] -c agent.yml     read and ship until SIGTERM or Ctrl-C
       tailrace-agent test config            check the settings and end
       tailrace-agent test output            check that the output can be reached
       tailrace-agent enroll URL TOKEN       make this machine an agent of the hub at URL; writes agent.yml
       tailrace-agent setup                  load index template and searches through the dashboard
       tailrace-agent registry [--json]      show how far each file is sent and committed
       tailrace-agent registry export        print it in a form that import takes
       tailrace-agent registry import PATH   take over an export, or a registry of Filebeat 6 or 7
       tailrace-agent registry reset FILE    forget a file, by path or key: it is read from its start
       tailrace-agent --print-schema         print the settings' schema as JSON
       tailrace-agent --print-settings       print the settings reference as Markdown
       tailrace-agent --version

options:
  -c, --config FILE       settings file (default: agent.yml)
  -E KEY=VALUE            set one setting, for example -E output.pipeline.servers='["nats://hub:4222"]'
      --path.data DIR     folder of the registry, as -E path.data=DIR
      --strict.perms=false  accept a settings file that other users own or may write
      --name NAME         enroll: name of the agent (default: the host's)
      --ca-fingerprint SHA256  enroll: the hub's certificate or its authority's, where no system authority signed it
      --force             enroll: replace settings that are there
      --ready-json        print {"ready":true,...} on standard output once it runs
  -h, --help

The smallest agent.yml:
  shipper.inputs:
    - type: log
      paths: ["/var/log/*.log"]
  output.pipeline.servers: ["nats://hub.example:4222"]

exit status: 0 done, 1 failed, 2 wrong usage or settings
`;

interface Options {
  readonly command: string;
  readonly argument: string;
  /** Further words, for `registry`. */
  readonly operand: string;
  readonly config: string;
  readonly overrides: readonly string[];
  readonly strictPermissions: boolean;
  readonly json: boolean;
  readonly readyJson: boolean;
  /** All of them as they were written. */
  readonly values: ReturnType<typeof parse>["values"];
}

/** Runs the command of `args` and resolves with the exit status. Messages go to standard error. */
export async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  try {
    if (args.includes("-h") || args.includes("--help") || args[0] === "help") return print(HELP);
    if (args.includes("--version"))
      return print(`tailrace-agent ${VERSION} (shipper ${SHIPPER_VERSION}), node ${process.version}\n`);
    if (args.includes("--print-schema")) return print(`${JSON.stringify(fullSchema(), null, 2)}\n`);
    if (args.includes("--print-settings")) return print(settingsReference());
    const options = parseOptions(args);
    if (options.command === "enroll") return await enrollAgent(options);
    const load = (): AgentSettings => loadSettings({ ...options, path: options.config, env });
    if (options.command === "run") return await run(options, load);
    const settings = load();
    if (options.command === "test") return await test(options.argument, settings);
    if (options.command === "setup") return print(await setup(settings.file));
    return await registry(settings, options);
  } catch (error) {
    return report(error);
  }
}

function parseOptions(args: readonly string[]): Options {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args);
  } catch (error) {
    throw new AppError(
      "usage_invalid",
      `${(error as Error).message}; tailrace-agent --help shows what there is`,
      { cause: error },
    );
  }
  const { values, positionals } = parsed;
  const [command = "run", argument = "", ...rest] = positionals;
  const [operand = "", ...more] = rest;
  const further = WITH_OPERAND.includes(command) ? more : rest;
  if (!COMMANDS.includes(command)) {
    throw new AppError(
      "usage_invalid",
      `unknown command "${command}"${didYouMean(command, COMMANDS)}; there are ${COMMANDS.join(", ")}`,
    );
  }
  if (further.length > 0 || (argument !== "" && !WITH_ARGUMENT.includes(command))) {
    throw new AppError(
      "usage_invalid",
      `"${[argument, ...further].at(-1)}" is too much; tailrace-agent --help shows the commands`,
    );
  }
  const pathData = values["path.data"];
  return {
    command,
    argument,
    operand,
    config: values.config ?? "agent.yml",
    overrides: [
      ...(values.E ?? []),
      ...(pathData === undefined ? [] : [`path.data=${JSON.stringify(pathData)}`]),
    ],
    strictPermissions: values["strict.perms"] !== "false",
    json: values.json ?? false,
    readyJson: values["ready-json"] ?? false,
    values,
  };
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      config: { type: "string", short: "c" },
      E: { type: "string", short: "E", multiple: true },
      "path.data": { type: "string" },
      "strict.perms": { type: "string" },
      json: { type: "boolean" },
      "ready-json": { type: "boolean" },
      name: { type: "string" },
      "ca-fingerprint": { type: "string" },
      force: { type: "boolean" },
    },
  });
}

/** Ships until a signal; the second one ends the process at once. SIGHUP takes over changed settings. */
async function run(options: Options, load: () => AgentSettings): Promise<number> {
  const settings = load();
  const { file } = settings;
  const pretty = !(file["logging.json"] ?? !process.stderr.isTTY);
  const log = createLogger({ name: "agent", level: file["logging.level"], pretty });
  const agent = new Agent(settings, log);
  const manager = new ServiceManager({ env: process.env, log });
  const signalled = Promise.withResolvers<void>();
  let signals = 0;
  const onSignal = (signal: string): void => {
    if (++signals > 1) process.exit(FAILED);
    log.info({ signal }, "stopping; a second signal ends at once");
    signalled.resolve();
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  const reloader = new Reloader({
    path: options.config,
    load,
    current: settings,
    apply: (next) => agent.reload(next),
    everyMs: file["config.reload.automatic"] ? settings.reloadIntervalMs : 0,
    clock: systemClock,
    log,
  });
  process.on("SIGHUP", () => void reloader.reload());
  await agent.start();
  await reloader.start();
  manager.ready();
  if (options.readyJson) {
    print(
      `${JSON.stringify({ ready: true, agent_id: agent.agentId, status_port: agent.statusPort, pid: process.pid })}\n`,
    );
  }
  await Promise.race([signalled.promise, agent.ended]);
  manager.stopping();
  await reloader.stop();
  await agent.stop();
  await manager.stop();
  log.info("agent stopped");
  return DONE;
}

async function test(what: string, settings: AgentSettings): Promise<number> {
  if (what === "config") {
    const inputs = settings.inputs.map(({ id, plugin }) => `  input ${id}: ${plugin.type}\n`).join("");
    return print(
      `settings are right: ${settings.inputs.length} inputs, output ${settings.output}\n${inputs}`,
    );
  }
  if (what !== "output")
    throw new AppError("usage_invalid", `test ${what}: write test config or test output`);
  const findings = await checkOutput(settings);
  for (const { target, text } of findings) print(`${target}: ${text}\n`);
  return findings.every(({ ok }) => ok) ? DONE : FAILED;
}

async function enrollAgent({ argument, operand, values }: Options): Promise<number> {
  if (operand === "") throw new AppError("usage_invalid", "write enroll URL TOKEN");
  return print(
    await enroll({
      url: argument,
      token: operand,
      configPath: values.config ?? "agent.yml",
      name: values.name ?? "",
      fingerprint: values["ca-fingerprint"] ?? "",
      force: values.force ?? false,
    }),
  );
}

async function registry(settings: AgentSettings, { argument, operand, json }: Options): Promise<number> {
  const { pathData, inputs } = settings;
  const log = createLogger({ name: "agent", level: "error", pretty: true });
  if (["import", "reset"].includes(argument) === (operand === "")) {
    throw new AppError(
      "usage_invalid",
      "write registry [export], registry import PATH or registry reset FILE",
    );
  }
  switch (argument) {
    case "":
    case "export": {
      const rows = await readRows(pathData, log, (path) =>
        process.stderr.write(`the agent is running; this is ${path}, up to 10 minutes old\n`),
      );
      return argument === "export" ? print(exportRows(rows)) : showRows(rows, json);
    }
    case "import": {
      const input = inputs.find(({ plugin }) => ["log", "container"].includes(plugin.type));
      const { files, skipped } = await importRows(pathData, operand, input?.id ?? "", log);
      for (const [path, reason] of skipped) process.stderr.write(`${path}: left out, ${reason}\n`);
      return print(`${files} files taken over, ${skipped.length} left out\n`);
    }
    case "reset": {
      const files = await resetFile(pathData, operand, log);
      print(`${files} files forgotten\n`);
      return files > 0 ? DONE : FAILED;
    }
    default:
      throw new AppError("usage_invalid", `registry ${argument}: there are export, import and reset`);
  }
}

function showRows(rows: Rows, json: boolean): number {
  if (json) return print(`${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`);
  for (const [key, row] of rows) {
    print(
      `${row.path}\n  file ${key} generation ${row.generation}, sent ${row.sent}, committed ${row.committed}\n`,
    );
  }
  return print(`${rows.size} files\n`);
}

/** The schema with the inputs' own settings in it. */
function fullSchema(): object {
  const inputs = INPUTS.map((plugin) => {
    const { properties } = inputSchema(plugin);
    return Type.Object(
      { ...properties, type: Type.Literal(plugin.type, { description: plugin.summary }) },
      { additionalProperties: false },
    );
  });
  const { properties } = SETTINGS_SCHEMA;
  return Type.Object(
    { ...properties, "shipper.inputs": Type.Array(Type.Union(inputs), { description: "What to read." }) },
    { additionalProperties: false },
  );
}

function settingsReference(): string {
  const inputs = INPUTS.map(
    (plugin) => `\n## Input ${plugin.type}\n${plugin.summary}\n\n${describeSettings(inputSchema(plugin))}`,
  );
  return `# agent.yml\n\n${describeSettings(SETTINGS_SCHEMA)}${inputs.join("")}`;
}

function print(text: string): number {
  process.stdout.write(text);
  return DONE;
}

function report(error: unknown): number {
  if (!(error instanceof AppError)) throw error;
  const detail = error.detail === undefined ? "" : ` (${error.detail})`;
  process.stderr.write(`tailrace-agent: ${error.message}${detail}\n`);
  return error.code === "settings_invalid" || error.code === "usage_invalid" ? WRONG_USAGE : FAILED;
}
