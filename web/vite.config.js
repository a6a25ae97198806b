// SPDX-License-Identifier: Apache-2.0
// Builds the page into one file, src/report/template.html: script and style inside it, allowed by
// their hashes alone (Content-Security-Policy), and nothing else. Both are deflated, which makes a page
// a third of the size; what inflates them is src/start.js. fflate rather than Node's zlib, whose output
// differs between its builds: the same source must give the same file.
import { deflateSync } from "fflate";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** The bundle's style and script, deflated and put into the shell, which is the only file that is written. */
function onePage() {
  return {
    name: "one-page",
    enforce: "post",
    generateBundle(_options, bundle) {
      const parts = Object.values(bundle);
      const script = parts.find((part) => part.type === "chunk").code.trim();
      const style = String(parts.find((part) => part.fileName.endsWith(".css")).source).trim();
      for (const name of Object.keys(bundle)) delete bundle[name];
      const start = readFileSync(`${here}/src/start.js`, "utf8").replace(/^\/\/.*\n/gm, "").trim();
      const packed = deflateSync(new TextEncoder().encode(`${style}\0${script}`), { level: 9, mem: 12 });
      const page = readFileSync(`${here}/src/shell.html`, "utf8")
        .replace("START_HASH", () => hash(start))
        .replace("SCRIPT_HASH", () => hash(script))
        .replace("STYLE_HASH", () => hash(style))
        .replace("PACKED", () => Buffer.from(packed).toString("base64"))
        .replace("/*START*/", () => start);
      this.emitFile({ type: "asset", fileName: "template.html", source: page });
    },
  };
}

export default defineConfig({
  root: here,
  plugins: [onePage()],
  // The classic form makes a smaller script.
  esbuild: { jsx: "transform", jsxFactory: "h", jsxFragment: "Fragment", jsxInject: 'import { h, Fragment } from "preact"', legalComments: "none" },
  build: {
    outDir: process.env.TW_TEMPLATE_DIR ?? "../src/report",
    emptyOutDir: false,
    target: "es2021",
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    minify: "terser",
    terserOptions: {
      compress: { passes: 3, unsafe_arrows: true, unsafe_methods: true, keep_fargs: false },
      mangle: { toplevel: true },
      format: { comments: false },
    },
    rollupOptions: {
      input: `${here}/src/main.tsx`,
      output: { format: "iife", entryFileNames: "page.js", assetFileNames: "page[extname]" },
    },
  },
});
