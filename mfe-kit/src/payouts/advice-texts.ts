import { catalogue } from '../language/language';

const english = {
  floatShort: 'The account for payouts is short of money. Ask your supervisor to top it up, then try again.',
  belowMinimum: 'Mobile money does not pay amounts this small. Ask your supervisor how to pay this loan out.',
  aboveMaximum: 'Mobile money does not pay this much at once. Ask your supervisor how to pay this loan out.',
  dailyLimit: 'A limit for today is reached. Try again tomorrow.',
  walletFull: 'The customer’s mobile-money account can’t hold this much. Ask the customer to make room.',
  ownAccount: 'Mobile money does not take payouts from us. Tell your supervisor; trying again does not help.',
  noWallet: 'The number has no mobile-money account. Check it with the customer.',
};

export type AdviceTexts = typeof english;

/** The advice for staff on a refusal of mobile money. */
export const adviceTexts = catalogue(english, { sw: () => import('./advice-texts-sw') });
