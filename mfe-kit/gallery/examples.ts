/** A file of examples, as the gallery shows it. */
export interface Example {
  /** The part's name. */
  name: string;
  /** The kit's entry that exports it. */
  entry: string;
  /** The part's purpose, in a sentence. */
  about: string;
  /** The code that the states have in common: imports and data. */
  setup: string;
  states: { name: string; title: string; code: string }[];
}

/** Reads a file of examples: a sentence, imports and data, and an exported component for each state. */
export function examplesIn(name: string, code: string): Example {
  const about = /^\/\*\* (.*) \*\/\n/.exec(code);
  const states = [...code.matchAll(/^export function (\w+)\(\) \{\n([\s\S]*?)^\}\n/gm)].map(
    ([, state = '', body = '']) => ({ name: state, title: titleOf(state), code: shown(body) }),
  );
  const imported = new RegExp(`^import [^;]*\\b${name}\\b[^;]* from '(mfe-kit/[\\w-]+)';`, 'm').exec(code);
  const setup = code.slice(about?.[0].length ?? 0).replaceAll(/^export function [\s\S]*?^\}\n/gm, '');
  return {
    name,
    entry: imported?.[1] ?? '',
    about: about?.[1] ?? '',
    setup: setup.replaceAll(/\n{3,}/g, '\n\n').trim(),
    states,
  };
}

/** `WithAnIcon` is 'With an icon'. */
function titleOf(name: string): string {
  return name.replaceAll(/(?<=.)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** The body of a component without its indentation; of one that only returns, what it returns. */
function shown(body: string): string {
  const lines = (text: string, indent: number) =>
    text.replaceAll(new RegExp(`^ {${indent}}`, 'gm'), '').trim();
  const inLines = /^ {2}return \(\n([\s\S]*)\n {2}\);\n$/.exec(body);
  if (inLines?.[1]) return withoutFragment(lines(inLines[1], 4));
  const inOne = /^ {2}return (<.*);\n$/.exec(body);
  return inOne?.[1] ?? lines(body, 2);
}

function withoutFragment(code: string): string {
  const inside = /^<>\n([\s\S]*)\n<\/>$/.exec(code)?.[1];
  return inside ? inside.replaceAll(/^ {2}/gm, '') : code;
}
