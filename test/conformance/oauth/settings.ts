/** Settings for tests: the defaults, with authentication and a further scope. */

import { Type } from "typebox";
import { Value } from "typebox/value";
import { type AuthSettings, authProperties } from "#hub/auth/settings.ts";

/** A scope of another API that introspects tokens here. */
export const OTHER_SCOPE = "https://api.example.com/auth/files";

/** Returns the settings' defaults with changes. */
export function settingsWith(changes: Partial<AuthSettings>): AuthSettings {
  const base = Value.Default(Type.Object(authProperties), {}) as AuthSettings;
  return { ...base, "auth.mode": "required", "auth.provider.scopes": [OTHER_SCOPE], ...changes };
}
