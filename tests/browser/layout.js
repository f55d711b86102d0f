// What no font may do to a page: each list holds what does, as text for a person.
// Everything is measured where it was laid out, unclipped by a region that scrolls.
() => {
  const STRICT = "th, h1, h2, h3, h4, legend, label, dt, figcaption, summary,"
    + " caption, button, .chips li, .ends li, .axis";
  // What a line of text may be broken before and after.
  const WORD = /[^\s\-\u00ad\u200b–—→]*[\p{L}\p{N}][^\s\-\u00ad\u200b–—→]*/gu;
  const SHORT = /^\p{L}{1,20}[.,;:)]*$/u;
  const INLINE = /^(inline|inline-block|contents)$/;
  const told = (text) => text.replace(/\s+/g, " ").trim().slice(0, 60);
  const above = (element, holds) => {
    let at = element;
    while (at && !holds(at)) at = at.parentElement;
    return at ?? document.documentElement;
  };
  const isSvg = (element) => element instanceof SVGElement;
  const clips = (element) => getComputedStyle(element).overflowX !== "visible";
  const room = (element) => {
    const style = getComputedStyle(element);
    return element.clientWidth - parseFloat(style.paddingLeft)
      - parseFloat(style.paddingRight);
  };
  const rangeOf = (node, start, end) => {
    const range = document.createRange();
    range.setStart(node, start);
    range.setEnd(node, end);
    return [...range.getClientRects()].filter((box) => box.width > 0);
  };

  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.data.trim() || parent.closest("script, style, noscript, .vh, .skip"))
      continue;
    if (!parent.checkVisibility({ visibilityProperty: true })) continue;
    const boxes = rangeOf(node, 0, node.length);
    if (boxes.length) texts.push({ node, parent, boxes });
  }

  // Two texts in one place.
  const lines = texts.flatMap(({ node, parent, boxes }) => {
    const clip = above(parent, (e) => !isSvg(e) && clips(e));
    const edge = clip.getBoundingClientRect();
    return boxes.map((box) => ({
      node, clip, left: box.left, right: box.right, top: box.top, bottom: box.bottom,
      from: Math.max(box.left, edge.left), to: Math.min(box.right, edge.right),
    }));
  }).sort((a, b) => a.top - b.top);
  const lapping = (a, b) => {
    const high = Math.min(a.bottom, b.bottom) - b.top;
    const least = Math.min(a.bottom - a.top, b.bottom - b.top);
    const wide = a.clip === b.clip
      ? Math.min(a.right, b.right) - Math.max(a.left, b.left)
      : Math.min(a.to, b.to) - Math.max(a.from, b.from);
    return wide > 1.5 && high > 2 && high > least * 0.2;
  };
  const covered = [];
  lines.forEach((a, i) => {
    for (let j = i + 1; j < lines.length && lines[j].top < a.bottom; j++)
      if (lapping(a, lines[j]))
        covered.push(`${told(a.node.data)} | ${told(lines[j].node.data)}`);
  });

  // A text that leaves its cell, or whatever block it stands in.
  const spilled = [];
  for (const { node, parent, boxes } of texts) {
    if (isSvg(parent)) continue;
    const block = above(parent, (e) => !INLINE.test(getComputedStyle(e).display));
    if (clips(block)) continue;
    const edge = block.getBoundingClientRect();
    if (boxes.some((box) => box.left < edge.left - 2 || box.right > edge.right + 2
      || box.top < edge.top - 4 || box.bottom > edge.bottom + 4))
      spilled.push(`${block.tagName}: ${told(node.data)}`);
  }

  // A word on two lines that had room on one.
  const broken = [];
  for (const { node, parent, boxes } of texts) {
    if (boxes.length < 2) continue;
    for (const word of node.data.matchAll(WORD)) {
      const parts = rangeOf(node, word.index, word.index + word[0].length);
      if (!parts.some((part) => Math.abs(part.top - parts[0].top) > 2)) continue;
      const wide = parts.reduce((sum, part) => sum + part.width, 0);
      const block = above(parent, (e) => !INLINE.test(getComputedStyle(e).display));
      const strict = parent.closest(STRICT) || SHORT.test(word[0]);
      const holder = strict && block.closest("table, dl");
      const most = holder ? room(holder.parentElement) / 2 : room(block);
      if (wide <= most - (strict ? 0 : 20)) broken.push(`${block.tagName}: ${word[0]}`);
    }
  }

  // A text of which a part cannot be seen.
  const cut = [];
  for (const element of document.querySelectorAll("body *")) {
    if (isSvg(element) || element.closest(".vh, [tabindex]") || !clips(element)) continue;
    if (element.checkVisibility() && element.scrollWidth > element.clientWidth + 1)
      cut.push(`${element.tagName}: ${told(element.textContent)}`);
  }
  for (const { node, parent, boxes } of texts) {
    if (!isSvg(parent)) continue;
    const holders = [parent.closest("figure, .panel, .scroll, main")];
    for (let at = parent.closest("svg"); at; at = at.parentElement.closest("svg"))
      if (clips(at)) holders.push(at);
    const outside = (box, edge) => box.left < edge.left - 0.5
      || box.right > edge.right + 0.5 || box.top < edge.top - 2
      || box.bottom > edge.bottom + 2;
    if (holders.some((holder) => boxes.some(
      (box) => outside(box, holder.getBoundingClientRect()))))
      cut.push(`text: ${told(node.data)}`);
  }
  return { covered, spilled, broken, cut };
}
