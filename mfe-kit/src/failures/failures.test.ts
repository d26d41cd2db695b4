import { ApiError, type FailureTexts, failureText, language, setPortalSettings } from 'mfe-kit';
import { expect, test } from 'vitest';

const REPAYMENTS: FailureTexts = {
  reads: 'message',
  replacements: { 'loan is closed': 'This loan is repaid already.' },
  withoutText: 'Failed to fetch repayments',
  withoutAnswer: 'The provider did not answer',
  otherwise: 'Failed to load repayments',
};

const server = (error?: string, message?: string) =>
  new ApiError({ kind: 'server', status: 400, error, message });

test.for([
  ['the field that is read first', server('not read', 'read first'), 'read first'],
  ['the other field where it is missing', server('read instead'), 'read instead'],
  ['a replacement, whatever the case', server(undefined, 'Loan is closed'), 'This loan is repaid already.'],
  // S-101
  ['a text that is a name of Object.prototype', server(undefined, 'constructor'), 'constructor'],
  ['a failure without a text', server(), 'Failed to fetch repayments'],
  ['no answer', new ApiError({ kind: 'network' }), 'The provider did not answer'],
  ['an answer that is too late', new ApiError({ kind: 'timeout' }), 'The provider did not answer'],
  ['an error of another kind', new TypeError('x is undefined'), 'The provider did not answer'],
  ['anything else', undefined, 'Failed to load repayments'],
] as const)('%s', ([, thrown, text]) => {
  expect(failureText(REPAYMENTS, thrown)).toBe(text);
});

test('a code that is a name of Object.prototype is no text', () => {
  const failure = new ApiError({ kind: 'server', status: 400, code: 'constructor' });
  expect(failureText(REPAYMENTS, failure)).toBe('Failed to fetch repayments');
});

test('without a text for a missing answer, the ones for other failures are shown', () => {
  const { withoutAnswer, ...texts } = REPAYMENTS;
  expect(withoutAnswer).toBeDefined();
  expect(failureText(texts, new ApiError({ kind: 'network' }))).toBe('Failed to fetch repayments');
  expect(failureText(texts, new TypeError('x is undefined'))).toBe('Failed to load repayments');
});

test.for([
  [900, 'Umejaribu mara nyingi mno. Jaribu tena baada ya dakika 15.'],
  [21, 'Umejaribu mara nyingi mno. Jaribu tena baada ya sekunde 21.'],
  [undefined, 'Umejaribu mara nyingi mno. Jaribu tena baadaye.'],
] as const)('in Swahili, a limit says when the next try is (%s s)', async ([retryAfterSeconds, text]) => {
  setPortalSettings({ screens: 'live' });
  await language.use('sw');
  const error = 'Too many attempts. Try again later.';
  const failure = {
    kind: 'server',
    status: 429,
    code: 'too_many_requests',
    error,
    retryAfterSeconds,
  } as const;
  expect(failureText(REPAYMENTS, new ApiError(failure))).toBe(text);
});
