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

/** A sentence, with its language where it is not that of the page. */
export interface RefusalSentence {
  text: string;
  lang?: 'en';
}

/**
 * The sentences on a failed payout: the advice, where there is one, then the provider's text, if any. Texts that advice
 * is known for are in English.
 */
export function refusalSentences(text: string | null): RefusalSentence[] {
  if (!text) return [];
  const known = ADVICE.find(([said]) => said.test(text))?.[1];
  return known ? [{ text: adviceTexts()[known] }, { text, lang: 'en' }] : [{ text }];
}
