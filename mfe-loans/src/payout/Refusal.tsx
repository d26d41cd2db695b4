import { isLive } from 'mfe-kit';
import { loansTexts, type LoansTexts } from '../loans-texts';

/** What mobile money says, and the advice for it. */
const ADVICE: [RegExp, keyof LoansTexts['advice']][] = [
  [/balance is insufficient|insufficient (funds|balance)/i, 'floatShort'],
  [/less than the minimum/i, 'belowMinimum'],
  [/greater than the maximum transaction/i, 'aboveMaximum'],
  [/daily (transfer )?limit/i, 'dailyLimit'],
  [/maximum balance/i, 'walletFull'],
  [/debit ?party|initiator/i, 'ownAccount'],
  [/credit ?party|operator does not exist|not registered|unregistered/i, 'noWallet'],
];

/** Why a payout failed: what to do about it, where that is known, and what the provider says, which is specified (REQ-264). */
export function Refusal({ text }: { text: string }) {
  const known = ADVICE.find(([said]) => said.test(text))?.[1];
  const advice = known ? <p>{loansTexts().advice[known]}</p> : null;
  return (
    <>
      {isLive() ? advice : null}
      <p>{text}</p>
      {isLive() ? null : advice}
    </>
  );
}
