/** Faults of an input's settings that its schema can't express. */

import { AppError } from "#proto/kit/errors.ts";

/** Returns settings_invalid. `setting`: name of the setting at fault in the input's schema; the message names its line. */
export function settingFault(setting: string, message: string, cause?: unknown): AppError {
  return new AppError("settings_invalid", message, { cause, data: { setting } });
}

/** Returns the name that `settingFault` was given; undefined where the fault concerns the whole input. */
export function settingAtFault({ data }: AppError): string | undefined {
  return typeof data["setting"] === "string" ? data["setting"] : undefined;
}
