/** Settings for tests: the defaults, with authentication and a further scope. */

import { type AuthSettings, authProperties } from "#hub/auth/settings.ts";
import { convert, Type } from "#proto/kit/schema.ts";

/** A scope of another API that introspects tokens here. */
export const OTHER_SCOPE = "https://api.example.com/auth/files";

/** Returns the settings' defaults with changes. */
export function settingsWith(changes: Partial<AuthSettings>): AuthSettings {
  const base = convert(Type.Object(authProperties), {}) as AuthSettings;
  return { ...base, "auth.mode": "required", "auth.provider.scopes": [OTHER_SCOPE], ...changes };
}
