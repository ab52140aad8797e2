
// Flame graphs: a click on a function makes it as wide as the picture, a click on one below it goes back.
for (const svg of document.querySelectorAll(".flame svg")) {
  const width = Number(svg.dataset.width), letter = 6.7;
  const calls = [...svg.querySelectorAll("g[data-x]")].map((g) => ({
    g, x: Number(g.dataset.x), w: Number(g.dataset.w), d: Number(g.dataset.d), rect: g.querySelector("rect"),
    text: g.querySelector("text"), name: g.dataset.name,
  }));
  const show = (to) => {
    for (const call of calls) {
      const outside = call.x >= to.x + to.w || call.x + call.w <= to.x;
      const from = Math.max(0, (call.x - to.x) / to.w), until = Math.min(1, (call.x + call.w - to.x) / to.w);
      call.g.style.display = outside || (until - from) * width < 0.3 ? "none" : "";
      call.g.classList.toggle("dim", call.d < to.d);
      call.rect.setAttribute("x", from * width);
      call.rect.setAttribute("width", Math.max(0, (until - from) * width));
      const room = Math.floor(((until - from) * width - 6) / letter);
      call.text.setAttribute("x", from * width + 3);
      call.text.textContent = room < 3 ? "" : call.name.length <= room ? call.name : call.name.slice(0, room - 1) + "\u2026";
    }
  };
  for (const call of calls) {
    call.g.addEventListener("click", () => show(call));
    call.g.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); show(call); }
    });
  }
}
