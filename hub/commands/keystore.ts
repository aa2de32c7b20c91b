/** `tailrace-hub keystore create | add | list | remove`: manages the secrets of pipelines. */

import { resolve } from "node:path";
import { Keystore } from "#hub/node/settings/keystore.ts";
import { loadPlacedSettings } from "#hub/node/settings/reach-file.ts";
import { AppError } from "#proto/kit/errors.ts";
import { checkFolderOwner } from "#proto/kit/files/folder-owner.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import { overridesOf, PLACE_OPTIONS, parseOptions, usageError } from "./arguments.ts";
import { readPassword } from "./terminal.ts";

const ACTIONS = ["create", "add", "list", "remove"] as const;

export interface KeystoreCommand {
  readonly name: "keystore";
  readonly action: (typeof ACTIONS)[number];
  /** Names of secrets; none for `create` and `list`. */
  readonly names: readonly string[];
  readonly config: string | undefined;
  readonly overrides: readonly string[];
}

/** Parses the arguments after `keystore`. Throws usage_invalid. */
export function parseKeystoreCommand(args: readonly string[]): KeystoreCommand {
  const { values, positionals } = parseOptions(args, PLACE_OPTIONS);
  const [given = "", ...names] = positionals;
  const action = ACTIONS.find((each) => each === given);
  if (action === undefined)
    throw usageError(`keystore ${given}: choose ${ACTIONS.join(", ")}${didYouMean(given, [...ACTIONS])}`);
  const isAlone = action === "create" || action === "list";
  if (isAlone && names.length > 0) throw usageError(`unexpected argument "${names[0]}"`);
  if (!isAlone && names.length === 0) throw usageError(`keystore ${action} needs NAME`);
  if (action === "add" && names.length > 1) throw usageError("keystore add takes one NAME at a time");
  return { name: "keystore", action, names, config: values.config, overrides: overridesOf(values) };
}

/** Runs the command and returns its output. Throws AppErrors with the remedy. */
export async function runKeystoreCommand(command: KeystoreCommand, env: NodeJS.ProcessEnv): Promise<string> {
  const settings = loadPlacedSettings({ file: command.config, overrides: command.overrides }, env);
  const folder = resolve(settings["path.data"]);
  const { action, names } = command;
  if (action !== "list") checkFolderOwner(folder, "tailrace-hub");
  if (action === "create") {
    await Keystore.create(folder, env);
    return `an empty keystore was created in ${folder}\n`;
  }
  const keystore = await Keystore.open(folder, env);
  if (action === "list") return (keystore?.names ?? []).map((name) => `${name}\n`).join("");
  if (keystore === undefined)
    throw new AppError("not_found", `there is no keystore in ${folder}; run tailrace-hub keystore create`);
  for (const name of names) {
    if (action === "add") keystore.set(name, await readPassword(name));
    else keystore.remove(name);
  }
  const what =
    action === "add" ? `${names.join()} is in the keystore` : `${names.join(", ")} removed from the keystore`;
  return `${what}; pipelines use the change once they are changed or the hub is restarted\n`;
}
