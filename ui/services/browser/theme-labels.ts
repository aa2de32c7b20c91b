/** Labels of themes and densities. */

import { msg } from "@lit/localize";

/** Texts of the looks, by their names. */
export const LOOK_TEXTS: Readonly<Record<string, string>> = {
  system: msg("System"),
  light: msg("Light"),
  dark: msg("Dark"),
  contrast: msg("High contrast"),
  compact: msg("Compact"),
  normal: msg("Normal"),
  comfortable: msg("Comfortable"),
};
