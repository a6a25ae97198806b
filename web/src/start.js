// SPDX-License-Identifier: Apache-2.0
// Inflates the page's script and starts it.
(async () => {
  const page = document.getElementById("page");
  try {
    const packed = Uint8Array.from(atob(document.getElementById("script").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.body.append(script);
  } catch (error) {
    page.textContent = `This page needs a browser of 2023 or later (${error}).`;
  }
})();
