import { adviceTexts, type AdviceTexts } from './advice-texts';

const ADVICE: [RegExp, keyof AdviceTexts][] = [
  [/balance is insufficient|insufficient (funds|balance)/i, 'floatShort'],
  [/less than the minimum/i, 'belowMinimum'],
  [/greater than the maximum transaction/i, 'aboveMaximum'],
  [/daily (transfer )?limit/i, 'dailyLimit'],
  [/maximum balance/i, 'walletFull'],
  [/debit ?party|initiator/i, 'ownAccount'],
  [/credit ?party|operator does not exist|not registered|unregistered/i, 'noWallet'],
];

/** The sentences on a failed payout: the advice, where there is one, then the provider's text, if any. */
export function refusalSentences(text: string | null): string[] {
  if (!text) return [];
  const known = ADVICE.find(([said]) => said.test(text))?.[1];
  return known ? [adviceTexts()[known], text] : [text];
}
