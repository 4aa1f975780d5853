/** The head of a page that does not follow its group; it is drawn once. */

import { readJson } from "../frame/dom.js";
import { headParts } from "./head.js";

const state = readJson("state");
headParts().forEach((each) => each.draw(state));
