import type { Report } from './report';

/** The fields of a report that describe a crash: never the error's message, which has data. */
type Crash = Required<Pick<Report, 'error'>> & Pick<Report, 'places'>;

/** The number of places of a crash that the server accepts. */
const MAX_PLACES = 20;

const NAME = /^[A-Z][A-Za-z0-9]{0,63}$/;

/** Before the address: `at`, the name of a function and a bracket (Chrome), or the name and `@` (Firefox, Safari). */
const BEFORE = /(?:^|@|\bat (?:async )?|\()$/;

/** A file of a build with line and column, at the end of a line of a stack. */
const POSITION = /^([\w@~-][\w.@~-]*(?:\/[\w@~-][\w.@~-]*)*):([1-9]\d{0,8}):([1-9]\d{0,8})\)?$/;

/**
 * The name of an error, and the places of its stack in the files below `folder`, the address of a build. An error that
 * React throws has none; `componentStack` says then which component it was.
 */
export function crashOf(error: unknown, folder: string, componentStack = ''): Crash {
  const placesOf = (stack: string) =>
    stack
      .split('\n')
      .flatMap((line) => placeIn(line.trim(), folder))
      .slice(0, MAX_PLACES);
  const own = error instanceof Error ? placesOf(callsOf(error)) : [];
  const places = own.length > 0 ? own : placesOf(componentStack);
  const name = error instanceof Error && NAME.test(error.name) ? error.name : 'Error';
  return { error: name, ...(places.length > 0 ? { places } : {}) };
}

/** The stack without the message, which Chrome writes in front of the calls. */
function callsOf({ message, stack = '' }: Error): string {
  const start = stack.indexOf(message);
  return start > 0 && /^\w+: $/.test(stack.slice(0, start)) ? stack.slice(start + message.length) : stack;
}

function placeIn(line: string, folder: string) {
  const at = line.lastIndexOf(folder);
  if (at < 0 || !BEFORE.test(line.slice(0, at))) return [];
  const [, file, lineNumber, column] = POSITION.exec(line.slice(at + folder.length)) ?? [];
  return file && file.length <= 200 ? [{ file, line: Number(lineNumber), column: Number(column) }] : [];
}
