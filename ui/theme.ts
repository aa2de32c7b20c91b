/** Light, dark or as the system is; the choice stands on the root element for the style sheet. */

import { readPreference, writePreference } from "./services/preferences.ts";

export type Theme = "system" | "light" | "dark";

export const THEMES: readonly Theme[] = ["system", "light", "dark"];

/** Fired on window when colours have changed: what is drawn on a canvas must be drawn again. */
export const THEME_EVENT = "tailrace-theme";

/** Returns the chosen theme. */
export function currentTheme(): Theme {
  const theme = readPreference("theme");
  return theme === "light" || theme === "dark" ? theme : "system";
}

/** Chooses a theme and remembers it. */
export function chooseTheme(theme: Theme): void {
  writePreference("theme", theme === "system" ? undefined : theme);
  applyTheme();
}

/** Puts the chosen theme on the page, and tells when the system changes its own. */
export function startTheme(): void {
  applyTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    dispatchEvent(new Event(THEME_EVENT)),
  );
}

function applyTheme(): void {
  const theme = currentTheme();
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  dispatchEvent(new Event(THEME_EVENT));
}
