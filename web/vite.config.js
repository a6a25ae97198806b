// SPDX-License-Identifier: Apache-2.0
// Builds the page into one file, src/report/template.html: script and style inside it, allowed by
// their hashes alone (Content-Security-Policy), and nothing else.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** What uPlot can draw and we do not: bars, splines, calendars, its own legend, scatter plots. Without names for them the minifier drops them. */
function leanPlots() {
  const unused = [
    [/\(paths\.(bars|spline) +=.*$/gm, ""],
    [/uPlot\.(join|fmtDate|tzDate) +=.*$/gm, ""],
    [/const _time(AxisSplits|AxisVals|SeriesVal) +=.*$/gm, ""],
    [/^const \[ timeIncrs.*$/gm, ""],
    [/\bshowLegend\b(?! =)/g, "false"],
    [/\bmode == 2\b/g, "false"],
    [/\bmode == 1\b/g, "true"],
    [/\bisTime\b(?! =)/g, "false"],
  ];
  return {
    name: "lean-plots",
    transform(code, id) {
      if (!id.endsWith("uPlot.esm.js")) return null;
      const lean = unused.reduce((text, [pattern, replacement]) => {
        if (!pattern.test(text)) throw new Error(`uPlot has changed: ${pattern}`);
        return text.replace(pattern, replacement);
      }, code);
      return { code: lean, map: null };
    },
  };
}

/** The bundle's script and style put into the shell, which is the only file that is written. */
function onePage() {
  return {
    name: "one-page",
    enforce: "post",
    generateBundle(_options, bundle) {
      const parts = Object.values(bundle);
      const script = parts.find((part) => part.type === "chunk").code.trim();
      const style = String(parts.find((part) => part.fileName.endsWith(".css")).source).trim();
      if (/<\/script/i.test(script) || /<\/style/i.test(style)) {
        throw new Error("script or style would end its own element");
      }
      for (const name of Object.keys(bundle)) delete bundle[name];
      const page = readFileSync(`${here}/src/shell.html`, "utf8")
        .replace("SCRIPT_HASH", () => hash(script))
        .replace("STYLE_HASH", () => hash(style))
        .replace("/*STYLE*/", () => style)
        .replace("/*SCRIPT*/", () => script);
      this.emitFile({ type: "asset", fileName: "template.html", source: page });
    },
  };
}

export default defineConfig({
  root: here,
  plugins: [leanPlots(), onePage()],
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
