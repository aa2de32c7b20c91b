/** Restrictions of pipelines created through the hub's API: no file names, no secrets in events. */

import type { Report } from "#hub/pipeline/language/plugin-options.ts";
import type { ConditionNode, OperandNode, PluginNode, Range } from "#hub/pipeline/language/syntax-tree.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Options that name files which plugins read without `resolvePath`. */
const FILE_OPTIONS = new Set([
  "authfile",
  "cacert",
  "client_cert",
  "client_key",
  "credentials_file",
  "nkey_seed_file",
  "patterns_dir",
  "schema_uri",
  "ssl_certificate",
  "ssl_certificate_authorities",
  "ssl_certificate_path",
  "ssl_key",
  "ssl_keystore_location",
  "ssl_truststore_location",
  "template",
  "typesdb",
]);

/** Options of inputs and outputs that only reach the service which they connect to. No event holds their values. */
const CREDENTIAL_OPTIONS =
  /(^|_)(api_key|access_key_id|secret_access_key|jaas_config|password|passphrase|token|secret|user|username|headers)$/;

const NO_FILES = "names a file, which pipelines of the page may not read";
const NO_VARIABLES =
  "uses a variable, which pipelines of the page may only do in credentials of inputs and outputs";
const USE_A_FILE = "write the pipeline into a file that path.config names";
const VARIABLE = "${";

/** Returns the error for a path in an option of a managed pipeline. */
export function pathRefused(path: string): AppError {
  return new AppError("forbidden", `"${path}" ${NO_FILES}; ${USE_A_FILE}`);
}

/** Returns the error for a variable that a filter of a managed pipeline reads. */
export function variableRefused(name: string): AppError {
  return new AppError(
    "forbidden",
    `the variable ${name} can't be read by pipelines of the page; ${USE_A_FILE}`,
  );
}

/**
 * Reports what a plugin of a managed pipeline may not have: names of files, and variables elsewhere than in the
 * credentials of an input or output, because whoever may write such a pipeline could read the keystore and the
 * environment with them. `title` names the plugin: "filter mutate".
 */
export function checkManaged(node: PluginNode, title: string, report: Report): void {
  const mayHoldSecrets = title.startsWith("input ") || title.startsWith("output ");
  for (const { name, value } of node.attributes) {
    if (FILE_OPTIONS.has(name)) report("error", value.range, `${title}: "${name}" ${NO_FILES}`, USE_A_FILE);
    const isCredential = mayHoldSecrets && CREDENTIAL_OPTIONS.test(name);
    if (!isCredential) refuseVariables(value.range, `${title}: "${name}"`, report);
  }
}

/** Reports variables in a condition of a managed pipeline: comparing events with a secret would reveal it. */
export function checkManagedCondition(node: ConditionNode, report: Report): void {
  for (const { range } of operandsOf(node)) refuseVariables(range, "a condition", report);
}

function refuseVariables({ source, start, end }: Range, what: string, report: Report): void {
  if (!source.text.slice(start, end).includes(VARIABLE)) return;
  report("error", { source, start, end }, `${what} ${NO_VARIABLES}`, USE_A_FILE);
}

function operandsOf(node: ConditionNode): readonly OperandNode[] {
  switch (node.kind) {
    case "logic":
      return [...operandsOf(node.left), ...operandsOf(node.right)];
    case "not":
      return operandsOf(node.operand);
    case "compare":
      return [node.left, node.right];
    case "match":
      return [node.left, node.pattern];
    case "in":
      return [node.needle, node.hay];
    case "truth":
      return [node.operand];
  }
}
