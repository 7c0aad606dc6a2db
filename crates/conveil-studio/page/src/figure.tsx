// Figures. The server sends SVG as text; here it is taken apart and built anew from an allow-list. Were a name in it
// ever badly escaped, what it smuggles in would not be built.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Figure } from "./api";

const SVG = "http://www.w3.org/2000/svg";

const ELEMENTS = new Set(["svg", "g", "path", "rect", "circle", "line", "polyline", "polygon", "clipPath", "defs", "title"]);

/** Shapes, places and ink; no reference, no style, no event. */
const ATTRIBUTES = new Set([
  "width", "height", "viewBox", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "d", "points",
  "transform", "fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
  "stroke-linecap", "stroke-linejoin", "opacity",
]);

/** Numbers, words, colours, brackets. */
const PLAIN = /^[\w\s.,+\-#%()]*$/;

const FRAGMENT = /^url\(#([\w-]+)\)$/;

let drawn = 0;

/** The same drawing from safe parts, or nothing; `label` is what a screen reader says of it. */
export function safeSvg(text: string, label: string): SVGElement | null {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (parsed.localName !== "svg" || parsed.namespaceURI !== SVG) return null;
  drawn += 1;
  const built = copied(parsed, `figure${drawn}-`);
  if (!(built instanceof SVGElement)) return null;
  built.setAttribute("role", "img");
  built.setAttribute("aria-label", described(parsed, label));
  built.setAttribute("focusable", "false");
  return built;
}

function copied(from: Element, own: string): Element | null {
  if (from.namespaceURI !== SVG || !ELEMENTS.has(from.localName)) return null;
  const to = document.createElementNS(SVG, from.localName);
  for (const { name, value } of Array.from(from.attributes)) {
    const fragment = FRAGMENT.exec(value);
    if (name === "id" && /^[\w-]+$/.test(value)) to.setAttribute("id", own + value);
    else if (name === "clip-path" && fragment) to.setAttribute(name, `url(#${own}${fragment[1]})`);
    else if (ATTRIBUTES.has(name) && PLAIN.test(value) && !/url\s*\(/i.test(value)) to.setAttribute(name, value);
  }
  // A name to point at, as text.
  if (from.localName === "title") to.textContent = from.textContent;
  for (const child of Array.from(from.children)) {
    const part = copied(child, own);
    if (part) to.append(part);
  }
  return to;
}

/** The label and the words in the figure; letters are drawn as strokes, and numbers of axes say little. */
function described(svg: Element, label: string): string {
  const words = Array.from(svg.querySelectorAll("[aria-label]"), (part) => part.getAttribute("aria-label") ?? "");
  const telling = words.filter((word) => /\p{L}/u.test(word) && word !== label);
  return [label, ...new Set(telling)].join("; ");
}

function Drawing({ figure }: { figure: Figure }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const svg = safeSvg(figure.svg, figure.title);
    place.current?.replaceChildren(svg ?? document.createTextNode("This figure cannot be drawn."));
  }, [figure.svg, figure.title]);
  return (
    <figure>
      <div class="drawing" ref={place} tabIndex={0} role="group" aria-label={`${figure.title}, figure`} />
      <figcaption>{figure.caption || figure.title}</figcaption>
    </figure>
  );
}

export function Figures({ figures }: { figures: Figure[] }) {
  return <>{figures.map((figure, place) => <Drawing key={place} figure={figure} />)}</>;
}
