/** `tailrace-hub pipeline check | run | test | plugins`: tools for pipelines that need no running hub. */

import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ownVariables, pipelineVariables } from "#hub/node/settings/keystore.ts";
import { loadPlacedSettings } from "#hub/node/settings/reach-file.ts";
import { readConfigs, readText } from "#hub/pipeline/definitions/pipeline-files.ts";
import type { PipelineFile } from "#hub/pipeline/language/pipeline-definition.ts";
import type { Variables } from "#hub/pipeline/language/plugin-options.ts";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import { systemReason } from "#proto/kit/system-reason.ts";
import { overridesOf, PLACE_OPTIONS, parseOptions, usageError } from "./arguments.ts";

const OPTIONS = {
  ...PLACE_OPTIONS,
  input: { type: "string" },
  json: { type: "boolean" },
  update: { type: "boolean" },
} as const;

/** Location of the hub's settings, whose keystore the pipelines may reference. */
interface Place {
  readonly config: string | undefined;
  readonly overrides: readonly string[];
}

export type PipelineCommand = { readonly name: "pipeline"; readonly place?: Place } & (
  | { readonly action: "check"; readonly files: readonly string[] }
  | {
      readonly action: "run";
      readonly files: readonly string[];
      /** Path of the sample; "-" is standard input. */
      readonly input: string;
      /** True: each line is an event as JSON; else the codec of the pipeline's first input decodes it. */
      readonly json: boolean;
    }
  | {
      readonly action: "plugins";
      /** Undefined: all plugins. */
      readonly plugin: string | undefined;
    }
  | {
      readonly action: "test";
      /** Folder or files of cases. */
      readonly paths: readonly string[];
      readonly update: boolean;
    }
);

/** Output and result of a command. */
export interface CommandOutcome {
  readonly output: string;
  /** Text for standard error. */
  readonly complaints: string;
  readonly isOk: boolean;
}

const ACTIONS = ["check", "plugins", "run", "test"];

/** Name endings of case files; other files of a folder are ignored. */
const CASE_FILE = /[._-]?(test|cases?)\.(ya?ml|json)$/;

/** Parses the arguments after `pipeline`. Throws usage_invalid. */
export function parsePipelineCommand(args: readonly string[]): PipelineCommand {
  const [action = "", ...rest] = args;
  if (!ACTIONS.includes(action)) {
    throw usageError(
      action === ""
        ? "write pipeline check FILE…, pipeline run FILE… --input SAMPLE or pipeline test DIR"
        : `unknown command "pipeline ${action}"${didYouMean(action, ACTIONS)}`,
    );
  }
  const { values, positionals } = parseOptions(rest, OPTIONS);
  const overrides = overridesOf(values);
  const isPlaced = values.config !== undefined || overrides.length > 0;
  return {
    ...actionOf(action, values, positionals),
    ...(isPlaced && { place: { config: values.config, overrides } }),
  };
}

function actionOf(
  action: string,
  values: { readonly input?: string; readonly json?: boolean; readonly update?: boolean },
  positionals: readonly string[],
): PipelineCommand {
  if (action === "plugins") return { name: "pipeline", action, plugin: positionals[0] };
  if (positionals.length === 0) throw usageError(`pipeline ${action} needs a file`);
  if (action === "check") return { name: "pipeline", action, files: positionals };
  if (action === "test")
    return { name: "pipeline", action, paths: positionals, update: values.update === true };
  if (values.input === undefined)
    throw usageError("pipeline run needs --input SAMPLE (- reads standard input)");
  return {
    name: "pipeline",
    action: "run",
    files: positionals,
    input: values.input,
    json: values.json === true,
  };
}

/** Throws settings_invalid if a file can't be read or, except for `check`, the pipeline is invalid. */
export async function runPipelineCommand(
  command: PipelineCommand,
  environment: NodeJS.ProcessEnv,
): Promise<CommandOutcome> {
  if (command.action === "plugins") return plugins(command.plugin);
  const { variables, remark } = await variablesOf(command, environment);
  const outcome = await runOn(command, variables);
  return { ...outcome, complaints: remark + outcome.complaints };
}

function runOn(
  command: Exclude<PipelineCommand, { action: "plugins" }>,
  variables: Variables,
): Promise<CommandOutcome> {
  if (command.action === "check") return check(readAll(command.files), variables);
  if (command.action === "run") return runSample(command, variables);
  return test(command, variables);
}

/** Unreadable secrets of a hub that the command line doesn't name are ignored. */
async function variablesOf(
  { place }: PipelineCommand,
  environment: NodeJS.ProcessEnv,
): Promise<{ readonly variables: Variables; readonly remark: string }> {
  try {
    const given = { file: place?.config, overrides: place?.overrides ?? [] };
    const folder = resolve(loadPlacedSettings(given, environment)["path.data"]);
    return { variables: await pipelineVariables(folder, environment), remark: "" };
  } catch (error) {
    const isDenied = error instanceof AppError && systemCode(error.cause) === "EACCES";
    if (place !== undefined || !isDenied) throw error;
    const remark = `without the secrets of this machine's hub: ${error.message}\n`;
    return { variables: ownVariables(environment), remark };
  }
}

async function check(files: readonly PipelineFile[], env: Variables): Promise<CommandOutcome> {
  const { inspectPipeline } = await import("#hub/pipeline/tooling/simulate.ts");
  const { formatDiagnostic } = await import("#hub/pipeline/language/diagnostics.ts");
  const diagnostics = await inspectPipeline(files, env);
  const count = (severity: string): number => diagnostics.filter((each) => each.severity === severity).length;
  const [errors, warnings] = [count("error"), count("warning")];
  const report = diagnostics.map((each) => `${formatDiagnostic(each)}\n\n`).join("");
  const summary =
    errors > 0
      ? `${plural(errors, "error")}, ${plural(warnings, "warning")}\n`
      : `${files.map(({ path }) => path).join(", ")}: ok${warnings > 0 ? `, ${plural(warnings, "warning")}` : ""}\n`;
  return { output: report + summary, complaints: "", isOk: errors === 0 };
}

async function plugins(plugin: string | undefined): Promise<CommandOutcome> {
  const { pluginNames, pluginReference } = await import("#hub/pipeline/tooling/plugin-reference.ts");
  const names = await pluginNames();
  if (plugin !== undefined && !names.includes(plugin)) {
    throw usageError(`there is no plugin "${plugin}"${didYouMean(plugin, names)}`);
  }
  return { output: await pluginReference(plugin), complaints: "", isOk: true };
}

async function runSample(
  { files, input, json }: Extract<PipelineCommand, { action: "run" }>,
  env: Variables,
): Promise<CommandOutcome> {
  const { runSamples } = await import("#hub/pipeline/tooling/simulate.ts");
  const text = input === "-" ? readFileSync(0, "utf8") : readSample(input);
  const lines = text.split(/\r?\n/).filter((line) => line !== "");
  const samples = json ? lines.map((line, place) => eventOf(line, place + 1)) : { lines };
  const { text: output, refused } = await runSamples({ files: readAll(files), samples, variables: env });
  const complaints = refused.map(({ sample, reason }) => `line ${sample + 1}: ${reason}\n`).join("");
  return { output, complaints, isOk: refused.length === 0 };
}

async function test(
  { paths, update }: Extract<PipelineCommand, { action: "test" }>,
  env: Variables,
): Promise<CommandOutcome> {
  const { CaseFile } = await import("#hub/pipeline/tooling/case-file.ts");
  const lines: string[] = [];
  let failed = 0;
  let count = 0;
  for (const path of paths.flatMap(caseFiles)) {
    const cases = new CaseFile(path, readText(path));
    const files = readAll(cases.pipeline);
    if (update) {
      writeFileSync(path, await cases.updated(files, env));
      lines.push(`${path}: updated`);
      continue;
    }
    for (const { name, differences, refused } of await cases.run(files, env)) {
      count++;
      const isOk = differences.length === 0 && refused.length === 0;
      if (!isOk) failed++;
      lines.push(`${isOk ? "ok    " : "FAILED"} ${relative("", path)}: ${name}`);
      for (const each of [...differences, ...refused.map((reason) => `refused: ${reason}`)])
        lines.push(`         ${each}`);
    }
  }
  if (!update)
    lines.push(failed === 0 ? `${plural(count, "case")} ok` : `${failed} of ${plural(count, "case")} failed`);
  return { output: `${lines.join("\n")}\n`, complaints: "", isOk: failed === 0 };
}

function readSample(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new AppError("settings_invalid", `cannot read the sample ${path}: ${systemReason(error)}`, {
      cause: error,
    });
  }
}

/** Returns the case files of a folder, or the file itself. */
function caseFiles(path: string): string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  const found = globSync(join(path, "**/*")).filter((each) => CASE_FILE.test(each));
  if (found.length > 0) return found.sort();
  throw new AppError("settings_invalid", `no case file is in ${path}: name them like access.test.yml`);
}

function readAll(paths: readonly string[]): PipelineFile[] {
  if (paths.length === 0) {
    throw new AppError(
      "settings_invalid",
      'the file of cases names no pipeline: write "pipeline: access.conf"',
    );
  }
  return paths.flatMap((path) => {
    const files = readConfigs([path]);
    return files.length > 0 ? files : [{ path, text: readText(path) }];
  });
}

function eventOf(line: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw new AppError(
    "settings_invalid",
    `line ${number} of the sample is not a JSON object; without --json lines are messages`,
  );
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
