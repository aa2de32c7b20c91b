/** Dispatches the commands of `tailrace-agent`, prints the reference of settings and runs the agent until a signal. */

import { basename, delimiter, dirname } from "node:path";
import { PROCESS_TERMINAL, type Terminal } from "#agent/commands/terminal.ts";
import { INPUTS } from "#agent/inputs/all.ts";
import { type AgentSettings, installedDataFolder, loadSettings } from "#agent/settings/config.ts";
import { inputSchema } from "#agent/settings/input-settings.ts";
import { COMMON_INPUT_PROPERTIES, SETTINGS_SCHEMA } from "#agent/settings/schema.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { createLogger, type Logger } from "#proto/kit/log.ts";
import { printableLines } from "#proto/kit/printable.ts";
import { ServiceManager } from "#proto/kit/process/sd-notify.ts";
import { Type } from "#proto/kit/schema.ts";
import { describeSettings } from "#proto/kit/settings/reference.ts";
import { Agent } from "./agent.ts";
import { helpText, type Options, parseOptions } from "./command-line.ts";
import { checkOutput, type Finding } from "./commands/check-output.ts";
import { enroll, waitForAdmission } from "./commands/enroll.ts";
import { registryCommand } from "./commands/registry.ts";
import { setup } from "./commands/setup.ts";
import { Reloader } from "./reload.ts";
import { SHIPPER_VERSION, VERSION } from "./version.ts";

/** Environment variable in which the launcher passes the path that it was called by. */
const PROGRAM_VARIABLE = "TAILRACE_AGENT_PROGRAM";
/** Exit statuses of all commands. */
const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** Runs the command of `args` and resolves with the exit status. Messages go to standard error. */
export async function main(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  terminal: Terminal = PROCESS_TERMINAL,
): Promise<number> {
  try {
    const text = information(args, env);
    if (text !== null) {
      terminal.print(text);
      return DONE;
    }
    const options = parseOptions(args, env);
    const load = (): AgentSettings => loadSettings({ ...options, path: options.config, env });
    if (options.command === "enroll") {
      terminal.print(await enrollAgent(options, env));
      const check = (): Promise<readonly Finding[]> => checkOutput(load());
      terminal.warn(await waitForAdmission(check, systemClock));
      return DONE;
    }
    if (options.command === "run") return await run(options, load, terminal);
    return (await doOnce(options, load(), terminal)) ? DONE : FAILED;
  } catch (error) {
    return report(error, terminal);
  }
}

/** Returns the text of an option that needs no command: help, version, schema, reference. Null without such an option. */
function information(args: readonly string[], env: NodeJS.ProcessEnv): string | null {
  if (args.includes("-h") || args.includes("--help") || args[0] === "help") return helpText(args, env);
  if (args.includes("--version"))
    return `tailrace-agent ${VERSION} (shipper ${SHIPPER_VERSION}), node ${process.version}\n`;
  if (args.includes("--print-schema")) return `${JSON.stringify(fullSchema(), null, 2)}\n`;
  return args.includes("--print-settings") ? settingsReference() : null;
}

/** Runs a command that ends by itself; resolves with false if it failed. */
async function doOnce(options: Options, settings: AgentSettings, terminal: Terminal): Promise<boolean> {
  if (options.command === "test") return await test(options.argument, settings, terminal);
  if (options.command === "registry") return await registryCommand(settings, options, terminal);
  terminal.print(await setup(settings.file));
  return true;
}

/** Ships until a signal; the second one ends the process at once. SIGHUP takes over changed settings. */
async function run(options: Options, load: () => AgentSettings, terminal: Terminal): Promise<number> {
  const settings = load();
  const { file } = settings;
  const pretty = !(file["logging.json"] ?? !process.stderr.isTTY);
  const log = createLogger({ name: "agent", level: file["logging.level"], pretty });
  for (const warning of settings.warnings) log.warn(warning);
  const agent = new Agent(settings, log);
  const manager = new ServiceManager({ env: process.env, log });
  const signalled = stopSignal(log);
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
    terminal.print(
      `${JSON.stringify({ ready: true, agent_id: agent.agentId, status_port: agent.statusPort, pid: process.pid })}\n`,
    );
  }
  await Promise.race([signalled, agent.ended]);
  manager.stopping();
  await reloader.stop();
  await agent.stop();
  await manager.stop();
  log.info("agent stopped");
  return DONE;
}

/** Resolves at the first SIGTERM or SIGINT; the second one ends the process. */
function stopSignal(log: Logger): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let signals = 0;
  const onSignal = (signal: string): void => {
    if (++signals > 1) process.exit(FAILED);
    log.info({ signal }, "stopping; a second signal ends at once");
    resolve();
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return promise;
}

async function test(what: string, settings: AgentSettings, terminal: Terminal): Promise<boolean> {
  if (what === "config") {
    const inputs = settings.inputs.map(({ id, plugin }) => `  input ${id}: ${plugin.type}\n`).join("");
    const warnings = [...settings.warnings, ...(await problemsOf(settings))];
    for (const warning of warnings) terminal.warn(`warning: ${warning}\n`);
    const { length } = settings.inputs;
    terminal.print(
      `settings are right: ${length === 1 ? "1 input" : `${length} inputs`}, output ${settings.output}\n${inputs}`,
    );
    return true;
  }
  if (what !== "output")
    throw new AppError("usage_invalid", `test ${what}: write test config or test output`);
  const findings = await checkOutput(settings);
  for (const { target, text } of findings) terminal.print(printableLines(`${target}: ${text}\n`));
  return findings.every(({ ok }) => ok);
}

/** Returns a sentence for each input that could not start now: a warning only, as the agent itself may hold the port. */
async function problemsOf({ inputs }: AgentSettings): Promise<string[]> {
  const problems: string[] = [];
  for (const { id, plugin, options } of inputs) {
    try {
      await plugin.probe?.(options);
    } catch (error) {
      problems.push(
        `input ${id}: ${(error as Error).message}, unless that is this agent, which runs already`,
      );
    }
  }
  return problems;
}

async function enrollAgent(
  { argument, operand, config, values }: Options,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  if (operand === "") throw new AppError("usage_invalid", "write enroll URL TOKEN");
  return await enroll({
    url: argument,
    token: operand,
    configPath: config,
    dataFolder: installedDataFolder(env),
    name: values.name ?? "",
    fingerprint: values["ca-fingerprint"] ?? "",
    force: values.force ?? false,
    program: programOf(env),
  });
}

/** Returns how people called the program: by its name alone where it is on their PATH. */
function programOf(env: NodeJS.ProcessEnv): string {
  const called = env[PROGRAM_VARIABLE] || "tailrace-agent";
  const isOnPath = (env["PATH"] ?? "").split(delimiter).includes(dirname(called));
  return isOnPath ? basename(called) : called;
}

function report(error: unknown, terminal: Terminal): number {
  if (!(error instanceof AppError)) throw error;
  const detail = error.detail === undefined ? "" : ` (${error.detail})`;
  terminal.warn(printableLines(`tailrace-agent: ${error.message}${detail}\n`));
  return error.code === "settings_invalid" || error.code === "usage_invalid" ? WRONG_USAGE : FAILED;
}

/** Returns the schema of agent.yml with the inputs' own settings in it. */
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

const INTRODUCTION = `Keys are written dotted or nested, in the file and in each input. \`\${NAME}\` and \`\${NAME:default}\` are replaced by values of the
environment; without a value \`\${NAME:?text}\` is an error with that text. \`-E key=value\` on the command line overrides
the file. Durations are numbers of seconds or texts such as \`200ms\`, \`5m\`, \`2h\`; sizes are bytes or texts such as
\`256kb\`, \`1mb\`. Exactly one output is enabled; without any it is the hub of this machine.
`;

/** Returns the reference of all settings as Markdown. */
export function settingsReference(): string {
  const inputs = INPUTS.map(
    ({ type, summary, schema }) => `\n## Input ${type}\n\n${summary}\n\n${describeSettings(schema)}`,
  );
  const common = describeSettings(Type.Object(COMMON_INPUT_PROPERTIES));
  return `# agent.yml\n\n${INTRODUCTION}\n${describeSettings(SETTINGS_SCHEMA)}\n## Every input\n\n${common}${inputs.join("")}`;
}
