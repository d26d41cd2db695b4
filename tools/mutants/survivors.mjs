/** Prints what came of the changes, by file, and those that no test notices. Fails if one is not known to be equivalent. */
import { readFileSync } from 'node:fs';

const { files } = JSON.parse(readFileSync('mutants.json', 'utf8'));
const equivalent = JSON.parse(readFileSync('tools/mutants/equivalent.json', 'utf8'));

/** The text between two places, which are counted from 1. */
function textIn(source, { start, end }) {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1).slice(0, end.column - 1);
  lines[0] = lines[0].slice(start.column - 1);
  return lines.join('\n').replaceAll(/\s+/g, ' ');
}

const shortened = (text) => (text.length > 90 ? `${text.slice(0, 90)}…` : text);

const unknown = [];
const rows = Object.entries(files).map(([file, { source, mutants }]) => {
  const with_ = (...statuses) => mutants.filter(({ status }) => statuses.includes(status));
  const survived = with_('Survived', 'NoCoverage').map(({ location, replacement }) => ({
    line: location.start.line,
    change: `${shortened(textIn(source, location))} → ${shortened(replacement.replaceAll(/\s+/g, ' '))}`,
  }));
  const isKnown = ({ change }) => equivalent.some((one) => one.file === file && one.change === change);
  for (const one of survived) if (!isKnown(one)) unknown.push(`${file}:${one.line}: ${one.change}`);
  return {
    file,
    mutants: mutants.length,
    killed: with_('Killed', 'Timeout').length,
    equivalent: survived.filter(isKnown).length,
    'not viable': with_('CompileError', 'RuntimeError').length,
  };
});

console.table(rows);
if (unknown.length > 0) {
  console.error(`mkopo: no test notices these changes:\n${unknown.join('\n')}`);
  process.exitCode = 1;
}
