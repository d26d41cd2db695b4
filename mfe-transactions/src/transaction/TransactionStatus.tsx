import { type PayoutStatus, refusalSentences } from 'mfe-kit';
import { StatusTag, type Tone } from 'mfe-kit/ui';
import { transactionsTexts } from '../transactions-texts';
import type { Transaction } from './transaction';

const TONES: Record<PayoutStatus, Tone> = { success: 'good', failed: 'bad', pending: 'wait' };

/** The status of a payout; where it failed, with the reason and what to do about it. */
export function TransactionStatus({ of: { status, errorMessage } }: { of: Transaction }) {
  const sentences = refusalSentences(status === 'failed' ? errorMessage : null);
  const reason = sentences.map(({ text, lang }) => (
    <span key={text} lang={lang}>
      {`${text} `}
    </span>
  ));
  return (
    <StatusTag tone={TONES[status]} reason={reason.length > 0 ? reason : null}>
      {transactionsTexts().statuses[status]}
    </StatusTag>
  );
}
