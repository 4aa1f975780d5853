/** Adds and removes consumers of a hosted group. */

import { apiUrl } from "./document.js";
import { find, note } from "../frame/dom.js";
import { leave } from "../frame/fragment.js";
import { ui } from "../frame/words.js";

export class MemberActions {
  constructor({ cluster, group, token, page }) {
    this.cluster = cluster;
    this.group = group;
    this.token = token;
    page.addEventListener("click", (event) => {
      const add = event.target.closest("[data-add]");
      const remove = event.target.closest("[data-remove]");
      if (add) this.change(add, { action: "add" }, ui("asked_add"));
      if (remove) this.remove(remove);
    });
    this.confirming = page.querySelector("[data-confirm]");
    if (this.confirming) this.tendConfirming();
  }

  tendConfirming() {
    const { confirming } = this;
    confirming.addEventListener("submit", (event) => {
      event.preventDefault();
      const confirm = confirming.elements.confirm.value;
      const button = find("button", confirming);
      this.change(button, { action: "add", confirm }, ui("asked_add"));
    });
    confirming.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.endAsking();
    });
    find("[data-confirm-cancel]", confirming).addEventListener("click", () =>
      this.endAsking(),
    );
  }

  remove(button) {
    const clientId = button.dataset.remove;
    const body = clientId
      ? { action: "remove", client_id: clientId }
      : { action: "remove" };
    this.change(
      button,
      body,
      ui("asked_remove", { name: clientId || ui("one_consumer") }),
    );
  }

  async change(button, body, done) {
    const box = button.closest("[data-actions]") ?? document;
    const problem = find("[data-action-problem]", box);
    if (problem) problem.textContent = "";
    button.disabled = true;
    try {
      await this.post(body);
      note(done);
      this.endAsking();
    } catch (error) {
      button.disabled = false;
      if (error.code === "confirm" && this.confirming) {
        this.ask(error.message, button);
        return;
      }
      const text = ui("action_failed", { reason: error.message });
      if (problem) problem.textContent = text;
      else note(text, 12);
    }
    button.disabled = false;
  }

  /** Say what would happen to the group's messages, and ask for its name. */
  ask(text, button) {
    find("[data-confirm-text]", this.confirming).textContent = text;
    if (!this.confirming.contains(button)) {
      this.asker = button;
      this.confirming.reset();
    }
    this.confirming.hidden = false;
    this.confirming.elements.confirm.focus();
    this.confirming.elements.confirm.select();
  }

  /** Close the question; the focus goes back to the button that led to it. */
  endAsking() {
    if (!this.confirming || this.confirming.hidden) return;
    this.confirming.hidden = true;
    this.asker.focus();
  }

  async post(body) {
    const answer = await fetch(apiUrl(this.cluster, this.group, "/members"), {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": this.token },
      body: JSON.stringify(body),
    });
    if (answer.ok) return;
    if (answer.status === 401) leave();
    const told = await answer.json().catch(() => ({}));
    const text = typeof told.detail === "string" ? told.detail : told.message;
    const said = text || ui("server_said", { status: answer.status });
    throw Object.assign(new Error(said), { code: told.code });
  }
}
