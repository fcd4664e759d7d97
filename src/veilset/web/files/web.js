// The only script: a form is sent without leaving the page, and the parts that come back take the place of the old ones.
// Without it, forms work as forms do. It keeps no state and knows nothing of what the parts are about.
"use strict";
(() => {
  const waiting = new Map(); // an action -> whether it was asked for again while its answer was awaited

  const tell = (text) => {
    const place = document.getElementById("said");
    if (place) place.textContent = text;
  };

  const fail = (what, next) => {
    const place = document.getElementById("message");
    if (!place) return;
    place.className = "message";
    place.setAttribute("role", "alert");
    place.replaceChildren(...[what, next].map((text) => {
      const line = document.createElement("p");
      line.textContent = text;
      return line;
    }));
    place.scrollIntoView({ block: "nearest" });
  };

  // Which details are open, and where the focus is, stays as it was.
  const replace = (old, part) => {
    for (const details of old.querySelectorAll("details[id]")) {
      const same = part.querySelector(`details[id="${CSS.escape(details.id)}"]`);
      if (same) same.open = details.open;
    }
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    old.replaceWith(part);
    if (!focused || !focused.id) return;
    const same = document.getElementById(focused.id);
    if (!same) return;
    same.focus({ preventScroll: true });
    if (typeof focused.selectionStart === "number" && same.setSelectionRange) {
      same.setSelectionRange(focused.selectionStart, focused.selectionEnd);
    }
  };

  const show = (text) => {
    const answer = new DOMParser().parseFromString(text, "text/html");
    for (const part of [...answer.body.children]) {
      const old = part.id && document.getElementById(part.id);
      if (old) replace(old, document.adoptNode(part));
    }
    const alert = document.querySelector("#message[role=alert]");
    if (alert) alert.scrollIntoView({ block: "nearest" });
  };

  const send = async (form, button) => {
    const action = (button && button.getAttribute("formaction")) || form.getAttribute("action");
    if (waiting.has(action)) {
      waiting.set(action, true);
      return;
    }
    waiting.set(action, false);
    const place = form.closest("section") || form;
    place.setAttribute("aria-busy", "true");
    try {
      const body = new URLSearchParams(new FormData(form, button));
      const answer = await fetch(new URL(action, document.baseURI), { method: "POST", body, headers: { "Veilset-Partial": "1" } });
      const text = await answer.text();
      if (answer.ok) show(text);
      else fail("This page belongs to a run of Veilset that has ended.", "Open the address that the terminal shows now.");
    } catch {
      fail("Veilset does not answer any more.", "Start it again in the terminal, and open the address it prints.");
    } finally {
      place.removeAttribute("aria-busy");
      const again = waiting.get(action);
      waiting.delete(action);
      const same = again && document.querySelector(`form[action="${CSS.escape(action)}"]`);
      if (same) send(same, null);
    }
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || form.hasAttribute("data-whole")) return;
    event.preventDefault();
    tell("Working");
    send(form, event.submitter);
  });

  // A switch or a dial acts when it is moved; its form has a button for those without a script.
  document.addEventListener("change", (event) => {
    if (event.target.hasAttribute("data-now") && event.target.form) event.target.form.requestSubmit();
  });

  // A dial says where it stands while it is moved: its positions are described in a list beside it.
  document.addEventListener("input", (event) => {
    const list = event.target.getAttribute("data-positions");
    const place = event.target.getAttribute("data-says");
    if (!list || !place) return;
    const position = document.getElementById(list).children[Number(event.target.value)];
    const text = position ? position.textContent : "";
    document.getElementById(place).textContent = text;
    event.target.setAttribute("aria-valuetext", text);
  });

  document.documentElement.classList.add("scripted");
})();
