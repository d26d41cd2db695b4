import { expect, test } from 'vitest';
import { crashOf } from './crash';

const BUILD = 'https://portal.example.com/slices/mfe-loans/0.2.0/';

/** An error with a stack as a browser writes it. */
function errorWith(stack: string, name = 'TypeError') {
  const error = new Error('the loan of Wanjiru Kamau');
  return Object.assign(error, { name, stack });
}

const PLACES = [
  { file: 'loans.11633aa2a4.js', line: 1, column: 20514 },
  { file: 'assets/198.bcd7fdbd50.js', line: 1, column: 9 },
  { file: 'remoteEntry.js', line: 12, column: 345 },
];

const STACKS = {
  Chrome: `TypeError: Cannot read properties of undefined (reading 'first_name')
    at Dialog (${BUILD}loans.11633aa2a4.js:1:20514)
    at Object.react_stack_bottom_frame (https://portal.example.com/assets/shell.46438300f3.js:2:118237)
    at new Payout (${BUILD}assets/198.bcd7fdbd50.js:1:9)
    at Array.map (<anonymous>)
    at async ${BUILD}remoteEntry.js:12:345
    at eval (eval at run (${BUILD}remoteEntry.js:12:345), <anonymous>:1:1)`,
  Firefox: `Dialog@${BUILD}loans.11633aa2a4.js:1:20514
react_stack_bottom_frame@https://portal.example.com/assets/shell.46438300f3.js:2:118237
Payout/<@${BUILD}assets/198.bcd7fdbd50.js:1:9
async*@${BUILD}remoteEntry.js:12:345
run@${BUILD}remoteEntry.js line 12 > eval:1:1
@debugger eval code:1:1
`,
  Safari: `Dialog@${BUILD}loans.11633aa2a4.js:1:20514
@https://portal.example.com/assets/shell.46438300f3.js:2:118237
map@[native code]
${BUILD}assets/198.bcd7fdbd50.js:1:9
module code@${BUILD}remoteEntry.js:12:345
[native code]`,
};

test.each(Object.entries(STACKS))(
  'the places of a stack of %s are those of the build’s files',
  (_, stack) => {
    expect(crashOf(errorWith(stack), BUILD)).toEqual({ error: 'TypeError', places: PLACES });
  },
);

test('an error that React throws has the place of its component', () => {
  const error = errorWith(
    'Error: Minified React error #31\n    at f (https://portal.example.com/assets/shell.4643.js:2:1)',
  );
  const componentStack = `\n    at Dialog (${BUILD}loans.11633aa2a4.js:1:20514)\n    at main`;
  expect(crashOf(error, BUILD, componentStack)).toEqual({ error: 'TypeError', places: [PLACES[0]] });
  expect(crashOf(null, BUILD, componentStack)).toEqual({ error: 'Error', places: [PLACES[0]] });
});

test('nothing of the message is reported, not even an address in it', () => {
  const message = `no answer\n    at wanjiru (${BUILD}wanjiru.js:1:2)\n@${BUILD}kamau.js:3:4`;
  const error = new TypeError(message);
  error.stack = `TypeError: ${message}\n    at f (${BUILD}loans.js:1:2)`;
  expect(crashOf(error, BUILD).places).toEqual([{ file: 'loans.js', line: 1, column: 2 }]);
});

test.each([
  'at f (https://evil.example.com/slices/mfe-loans/0.2.0/loans.js:1:2)',
  'at f (https://portal.example.com/slices/mfe-loans/0.2.1/loans.js:1:2)',
  `at f (https://evil.example.com/?${BUILD}loans.js:1:2)`,
  `at f (${BUILD}../0.2.1/loans.js:1:2)`,
  `at f (${BUILD}.hidden.js:1:2)`,
  `at f (${BUILD}loans.js?email=wanjiru:1:2)`,
  `at f (${BUILD}wanjiru kamau.js:1:2)`,
  `at f (${BUILD}loans.js:0:2)`,
  `at f (${BUILD}loans.js:1:99999999999)`,
  `at f (${BUILD}loans.js:1)`,
  `at f (${BUILD}${'x'.repeat(198)}.js:1:2)`,
])('a line of something else is left out: %s', (line) => {
  expect(crashOf(errorWith(line), BUILD)).toEqual({ error: 'TypeError' });
});

test('20 places are reported at most, the innermost first', () => {
  const lines = Array.from({ length: 200 }, (_, n) => `at f (${BUILD}loans.js:${n + 1}:1)`);
  const { places } = crashOf(errorWith(lines.join('\n')), BUILD);
  expect(places?.map(({ line }) => line)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
});

test.each(['', 'wanjiru@example.com', 'typeError', 'X'.repeat(65), 'Wanjiru Kamau'])(
  'a name that is not of the usual form is not reported: %j',
  (name) => {
    expect(crashOf(errorWith('', name), BUILD)).toEqual({ error: 'Error' });
  },
);

test('what is thrown and is no error has no name and no places', () => {
  for (const thrown of ['Wanjiru', null, undefined, { name: 'Wanjiru', stack: STACKS.Chrome }])
    expect(crashOf(thrown, BUILD)).toEqual({ error: 'Error' });
});
