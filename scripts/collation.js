// Print the order of characters in ICU's root collation, for src/skillc/collation.txt:
//     node scripts/collation.js > src/skillc/collation.txt
// order    letters and signs, each a primary weight: 61-63 is three of them, 61,41 one in two cases, and
//          64;111 one with and without an accent of its own
// marks    accents, in their order          nothing  characters that count for nothing
// several  characters that stand for several letters: e6=61+65
const [base, accent, variant] = ["base", "accent", "variant"].map((s) => new Intl.Collator("en", { sensitivity: s }));
const text = (code) => String.fromCodePoint(code);
const hex = (code) => code.toString(16);
const counts = (s) => base.compare(s, "") !== 0;

// Whether a character is something else than the letters that it stands for.
const differs = (s) => base.compare(s, [...s.normalize("NFKD")].filter(counts).join("")) !== 0;

function isListed(code) {
  const s = text(code);
  const isPrivate = code >= 0xd800 && code < 0xf900;
  const isSyllable = code >= 0xac00 && code <= 0xd7a3;
  const isRare = /\p{Unified_Ideograph}/u.test(s) && !(code >= 0x4e00 && code <= 0x9fff);
  if (isPrivate || isSyllable || isRare || !/\p{Assigned}/u.test(s)) return false;
  return (code < 0xfffe || code >= 0x1f000) && (s.normalize("NFKD") === s || differs(s));
}

function byWeight(a, b) {
  const [x, y] = [text(a), text(b)];
  return base.compare(x, y) || accent.compare(x, y) || variant.compare(x, y) || a - b;
}

// The letters whose weights together are those of `s`, which begins with `prefix`.
function expand(s, prefix, letters) {
  for (let count = 0; count < 6; count++) {
    if (base.compare(s, prefix) === 0) return prefix;
    let [low, high] = [0, letters.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (base.compare(prefix + text(letters[middle][0]), s) <= 0) low = middle;
      else high = middle - 1;
    }
    prefix += text(letters[low][0]);
  }
  return "";
}

function runs(codes) {
  const result = [];
  for (const code of codes) {
    const last = result[result.length - 1];
    if (last && last[1] + 1 === code) last[1] = code;
    else result.push([code, code]);
  }
  return result.map(([a, b]) => (a === b ? hex(a) : `${hex(a)}-${hex(b)}`));
}

const all = Array.from({ length: 0x1fb00 }, (_, code) => code).filter(isListed);
const nothing = all.filter((code) => variant.compare(text(code), "") === 0);
const marks = all.filter((code) => !counts(text(code)) && !nothing.includes(code)).sort(byWeight);
const groups = [];
for (const code of all.filter((code) => counts(text(code))).sort(byWeight)) {
  const last = groups[groups.length - 1];
  if (last && base.compare(text(last[0]), text(code)) === 0) last.push(code);
  else groups.push([code]);
}
const [letters, compounds] = [[], []];
for (const group of groups) {
  const last = letters[letters.length - 1];
  if (last && base.compare(text(group[0]), text(last[0]) + "\uffff") < 0) compounds.push([group, last]);
  else letters.push(group);
}
const order = [];
let singles = [];
for (const group of [...letters, []]) {
  if (group.length === 1) singles.push(group[0]);
  else {
    order.push(...runs(singles));
    singles = [];
    const sign = (i) => (i === 0 ? "" : accent.compare(text(group[i - 1]), text(group[i])) === 0 ? "," : ";");
    if (group.length) order.push(group.map((code, i) => sign(i) + hex(code)).join(""));
  }
}
const several = [];
for (const [group, last] of compounds) {
  const parts = [...expand(text(group[0]), text(last[0]), letters)].map((c) => hex(c.codePointAt(0)));
  if (parts.length) several.push(...group.map((code) => `${hex(code)}=${parts.join("+")}`));
}
console.log(`order ${order.join(" ")}`);
console.log(`marks ${runs(marks).join(" ")}`);
console.log(`nothing ${runs(nothing).join(" ")}`);
console.log(`several ${several.join(" ")}`);
