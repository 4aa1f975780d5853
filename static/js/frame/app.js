/** The script that every page loads. */

import { tendCopying } from "./copying.js";
import { offerZone, tendMenus, tendTheme } from "./frame.js";
import { listenForKeys } from "./keys.js";
import { offerNames } from "./search.js";
import { tendTerms } from "./terms.js";

tendMenus();
tendTheme();
offerZone();
listenForKeys();
tendCopying();
tendTerms();
offerNames();
