import { plural } from 'mfe-kit';
import { expect, test } from 'vitest';
import { gapsIn } from './catalogues.mjs';

const ENGLISH = {
  title: 'Loans',
  status: { paid: 'Paid', failed: 'Failed' },
  paid: (amount, customer) => `${amount} was paid to ${customer}.`,
  dialog: (name) => `About ${name.trim()}`,
  found: (count) => plural(count, { one: `${count} loan`, other: `${count} loans` }),
};
const SWAHILI = {
  title: 'Mikopo',
  status: { paid: 'Imelipwa', failed: 'Imeshindikana' },
  paid: (amount, customer) => `${customer} amelipwa ${amount}.`,
  dialog: (name) => `Kuhusu ${name.trim()}`,
  found: (count) => plural(count, { one: `Mkopo ${count}`, other: `Mikopo ${count}` }),
};

test.for([
  ['nothing', {}, []],
  ['a text', { title: undefined }, ['title is missing']],
  ['a text within another', { status: { paid: 'Imelipwa' } }, ['status.failed is missing']],
  ['the words of a text', { title: ' ' }, ['title is empty']],
  ['a text that English lacks', { extra: 'Zaidi' }, ['extra is not in English']],
  ['a placeholder', { paid: (amount) => `Amelipwa ${amount}.` }, ['paid has other placeholders (⟦B⟧)']],
  ['the forms of a plural', { found: (count) => `Mikopo ${count}` }, ['found has no plural forms']],
  [
    'one form of a plural',
    { found: (count) => plural(count, { other: `Mikopo ${count}` }) },
    ['found has no text for 1'],
  ],
])('it is noticed when the languages differ by %s', ([, changes, gaps]) => {
  expect(gapsIn(ENGLISH, { ...SWAHILI, ...changes })).toEqual(gaps);
});
