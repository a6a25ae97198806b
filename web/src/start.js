// SPDX-License-Identifier: Apache-2.0
// Inflates the page's style and script, which a NUL parts, and puts them into it.
(async () => {
  const page = document.getElementById("page");
  try {
    const packed = Uint8Array.from(atob(document.getElementById("packed").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const text = await new Response(stream).text();
    const end = text.indexOf("\0");
    for (const [name, content] of [["style", text.slice(0, end)], ["script", text.slice(end + 1)]]) {
      const element = document.createElement(name);
      element.textContent = content;
      document.head.append(element);
    }
  } catch (error) {
    page.textContent = `This page needs a browser of 2023 or later (${error}).`;
  }
})();
