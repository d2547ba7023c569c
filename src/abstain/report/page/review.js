"use strict";
// A slider over the number of reviewed rows. All numbers are text written by Python; the page only picks one.
(() => {
  const { words, at, rings } = JSON.parse(document.getElementById("review-data").textContent);
  const slider = document.getElementById("capacity");
  const back = document.getElementById("all-rejected");
  const circles = document.querySelectorAll("#review circle.point");
  function update() {
    const place = Number(slider.value);
    for (const one of document.querySelectorAll("[data-review]")) one.textContent = words[one.dataset.review][place];
    circles.forEach((circle, plot) => {
      const ring = rings[plot][place];
      circle.setAttribute("visibility", ring ? "visible" : "hidden");
      if (!ring) return;
      circle.setAttribute("cx", ring[0]);
      circle.setAttribute("cy", ring[1]);
    });
    slider.setAttribute("aria-valuetext", `${words.reviewed[place]} rows`);
    back.disabled = place === at;
  }
  slider.addEventListener("input", update);
  back.addEventListener("click", () => {
    slider.value = at;
    update();
  });
  for (const part of document.querySelectorAll(".needs-review")) part.hidden = false;
  update();
})();
