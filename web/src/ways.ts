// SPDX-License-Identifier: Apache-2.0
// The two directions of a link in words. Links between switches have no host at an end.

export function wayOf(link: string, word: string | null): string {
  const from = word === "from_host";
  if (link === "core") return from ? "left to right" : "right to left";
  if (link.includes("-")) return from ? "up" : "down";
  return from ? "sending" : "receiving";
}
