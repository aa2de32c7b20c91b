/** German texts of the pages, by the English ones. */

import type { Catalogue } from "../services/language.ts";

export const GERMAN: Catalogue = {
  Discover: "Entdecken",
};
