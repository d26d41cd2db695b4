import { adviceTexts, type AdviceTexts } from './advice-texts';

/** What mobile money says, and the advice for it. */
const ADVICE: [RegExp, keyof AdviceTexts][] = [
  [/balance is insufficient|insufficient (funds|balance)/i, 'floatShort'],
  [/less than the minimum/i, 'belowMinimum'],
  [/greater than the maximum transaction/i, 'aboveMaximum'],
  [/daily (transfer )?limit/i, 'dailyLimit'],
  [/maximum balance/i, 'walletFull'],
  [/debit ?party|initiator/i, 'ownAccount'],
  [/credit ?party|operator does not exist|not registered|unregistered/i, 'noWallet'],
];

/** Why a payout failed: what to do about it, where that is known, and then what the provider says, if anything. */
export function refusalSentences(text: string | null): string[] {
  if (!text) return [];
  const known = ADVICE.find(([said]) => said.test(text))?.[1];
  return known ? [adviceTexts()[known], text] : [text];
}
