/** Settings of inputs that read files, their validation, and the options derived from them. */

import { resolve } from "node:path";
import type { Static, TObject } from "typebox";
import { onlyWith } from "#agent/contract/idle-settings.ts";
import { settingFault } from "#agent/contract/input.ts";
import { compilePattern, type Pattern } from "#agent/discovery/pattern.ts";
import type { FileSetOptions } from "#agent/files/file-set.ts";
import { compileExpression } from "#agent/lines/expression.ts";
import { Type } from "#proto/kit/schema.ts";
import { durationSetting, sizeSetting } from "#proto/kit/settings/kinds.ts";
import { parseDuration, parseSize } from "#proto/kit/units.ts";

const duration = (fallback: string | number, description: string) =>
  durationSetting({ default: fallback, description });

/** Files without readable lines, and those if gzip is unpacked. */
const COMPRESSED = "\\.(gz|bz2|xz|zst|lz4|zip)$";
const OTHER_COMPRESSED = "\\.(bz2|xz|zst|lz4|zip)$";

/** Settings of inputs that read files. */
export const fileProperties = {
  paths: Type.Array(Type.String(), {
    minItems: 1,
    description:
      "Path patterns: * and ? within a name, [a-z], {a,b}, ** over folders; relative ones count from the working folder.",
  }),
  exclude_files: Type.Array(Type.String(), {
    default: [COMPRESSED],
    description: "Regular expressions; files whose path matches one are ignored.",
  }),
  read_archives: Type.Boolean({
    default: false,
    description:
      "Read gzip archives too, each once: an archive of a file that was already read continues where that file ended. Archives are unpacked under path.data, one at a time. The default of exclude_files then no longer excludes them.",
  }),
  symlinks: Type.Boolean({
    default: false,
    description: "Follow symbolic links; each file is read once, whatever its names.",
  }),
  scan_frequency: duration(
    "1s",
    "Interval between scans for files; notifications of the operating system come in between. Longer if a scan takes long.",
  ),
  tail_files: Type.Boolean({
    default: false,
    description: "At the very first start, read existing files from their end.",
  }),
  ignore_older: duration(0, "Ignore files that were not changed for this time; 0: never."),
  close_inactive: duration(
    "5m",
    "Close a file without new data for this time, once it is read, acknowledged and committed.",
  ),
  close_removed: Type.Boolean({
    default: false,
    description:
      "Close a deleted file once it is read to its end and acknowledged, without waiting for the commit.",
  }),
  close_renamed: Type.Boolean({
    default: false,
    description:
      "Close a file that no longer matches the patterns after a rename, once it is read to its end and acknowledged.",
  }),
  close_eof: Type.Boolean({
    default: false,
    description: "Close each file once it is read to its end and acknowledged.",
  }),
  close_timeout: duration(
    0,
    "Close each file after this time, even if it isn't fully read; the unread rest of a deleted file is lost. 0: never.",
  ),
  rotated_wait: duration(
    "5s",
    "Time without change after which the last line of a rotated or deleted file is sent although it has no line end.",
  ),
  clean_inactive: duration(
    0,
    "Forget files not changed for this time; must be longer than ignore_older + scan_frequency. 0: never.",
  ),
  delete_after_read: Type.Boolean({
    default: false,
    description:
      "Delete a file once it is fully committed and was not changed for delete_grace. For files that are not written to again.",
  }),
  delete_grace: onlyWith(
    duration("1m", "Time without change before delete_after_read deletes a file."),
    "delete_after_read",
  ),
  clean_removed: Type.Boolean({ default: true, description: "Forget files a minute after their removal." }),
  harvester_limit: Type.Integer({
    minimum: 0,
    default: 0,
    description: "Maximum number of open files, up to 2,000; other files take turns. 0: 2,000.",
  }),
  max_bytes: sizeSetting({
    default: "1mb",
    description:
      "Largest event that isn't split, 1kb to 4mb; longer ones are split and marked, or treated as on_long specifies.",
  }),
};

export type FileSettings = Static<TObject<typeof fileProperties>>;

/** Properties of the kind of input, as opposed to its settings. */
export type ContentOption =
  | "inputType"
  | "createFormat"
  | "fieldsOf"
  | "awaitsFields"
  | "wideText"
  | "joinsRotated";

const MAX_BYTES_LOWEST = 1_024;
const MAX_BYTES_HIGHEST = 4 * 1_024 * 1_024;

/** Checks rules that the schema can't express. Throws settings_invalid. */
export function validateFileSettings(settings: FileSettings): void {
  const { ignoreOlderMs, cleanInactiveMs } = fileOptions(settings);
  const least = ignoreOlderMs + parseDuration(settings.scan_frequency);
  if (cleanInactiveMs > 0 && (ignoreOlderMs === 0 || cleanInactiveMs <= least)) {
    throw settingFault(
      "clean_inactive",
      "clean_inactive must be longer than ignore_older + scan_frequency, and ignore_older must be set; else files that are forgotten would be read again",
    );
  }
  patternsOf(settings);
  excluderOf(settings);
}

/** Returns the options of the file set. Throws settings_invalid. */
export function fileOptions(settings: FileSettings): Omit<FileSetOptions, ContentOption | "reads"> {
  const maxBytes = parseSize(settings.max_bytes);
  if (maxBytes < MAX_BYTES_LOWEST || maxBytes > MAX_BYTES_HIGHEST) {
    throw settingFault("max_bytes", `max_bytes must be between 1kb and 4mb, but is ${settings.max_bytes}`);
  }
  return {
    closeInactiveMs: parseDuration(settings.close_inactive),
    closeRemoved: settings.close_removed,
    closeRenamed: settings.close_renamed,
    closeEof: settings.close_eof,
    deleteAfterMs: settings.delete_after_read ? parseDuration(settings.delete_grace) : null,
    closeTimeoutMs: parseDuration(settings.close_timeout),
    ignoreOlderMs: parseDuration(settings.ignore_older),
    cleanInactiveMs: parseDuration(settings.clean_inactive),
    cleanRemoved: settings.clean_removed,
    tailFiles: settings.tail_files,
    archives: settings.read_archives,
    harvesterLimit: settings.harvester_limit,
    maxBytes,
    quietMs: parseDuration(settings.rotated_wait),
  };
}

/** Returns the patterns of `paths`. Throws settings_invalid. */
export function patternsOf(settings: FileSettings): Pattern[] {
  return settings.paths.flatMap((path) => compilePattern(resolve(path)));
}

/** Returns the test for paths that exclude_files leaves out. Throws settings_invalid. */
export function excluderOf(settings: FileSettings): (path: string) => boolean {
  const given = settings.exclude_files;
  const isDefault = given.length === 1 && given[0] === COMPRESSED;
  const chosen = isDefault && settings.read_archives ? [OTHER_COMPRESSED] : given;
  const expressions = chosen.map((text) => compileExpression("exclude_files", text));
  return (path) => expressions.some((expression) => expression.test(path));
}
