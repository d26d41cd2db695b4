import { setPortalSettings } from 'mfe-kit';
import { renderPart } from 'mfe-kit/testing';
import { expect, test } from 'vitest';
import { Refusal } from './Refusal';

const shown = (text: string) => {
  renderPart(<Refusal text={text} />);
  return [...document.querySelectorAll('p')].map(({ textContent }) => textContent);
};

const JARGON = "Credit Party customer type can't be supported by the service.";
const ADVICE = 'The number has no mobile-money account. Check it with the customer.';

test('a refusal in mobile money’s words says first what to do', () => {
  setPortalSettings({ screens: 'live' });
  expect(shown(JARGON)).toEqual([ADVICE, JARGON]);
});

test('REQ-264 in a specified portal the message comes first', () => {
  expect(shown(JARGON)).toEqual([JARGON, ADVICE]);
});
