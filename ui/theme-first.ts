/** Loaded before anything is painted, so that a chosen theme shows no flash of the other one. */

import { currentTheme } from "./theme.ts";

const theme = currentTheme();
if (theme !== "system") document.documentElement.dataset["theme"] = theme;
