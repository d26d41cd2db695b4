import type { UseMutationResult } from '@tanstack/react-query';
import { ApiError, formatMoney, groupDigits, localPhone, type Schema } from 'mfe-kit';
import { Button, Note, Spinner } from 'mfe-kit/ui';
import { Modal } from 'mfe-kit/ui-data';
import { useEffect, useRef } from 'react';
import type { Loan } from '../loan/loan';
import type { PayoutRequest } from './disburse';
import classes from './DisburseDialog.module.css';

const CLOSED_AFTER_MS = 2500;

interface DisburseDialogProps {
  loan: Loan;
  isOpen: boolean;
  payout: UseMutationResult<Schema<'Disbursement'>, Error, PayoutRequest>;
  onClose: () => void;
}

/** Asks before money moves, says that it moves, and says how it went. */
export function DisburseDialog({ loan, isOpen, payout, onClose }: DisburseDialogProps) {
  const cancel = useRef<HTMLButtonElement>(null);
  const amount = formatMoney(loan.amount);
  const { status, isSuccess } = payout;

  useEffect(() => {
    if (!isSuccess || !isOpen) return;
    const timer = setTimeout(onClose, CLOSED_AFTER_MS);
    return () => clearTimeout(timer);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the page's redraws do not start the time anew
  }, [isSuccess, isOpen]);

  function pay() {
    // After a final refusal it is another attempt; without an answer it has to be the same one.
    const isSameAttempt = payout.error instanceof ApiError && payout.error.isOutcomeUnknown;
    const idempotencyKey = (isSameAttempt && payout.variables?.idempotencyKey) || crypto.randomUUID();
    payout.mutate({ loan, idempotencyKey });
  }

  const { title, text } = WORDS[status](amount, loan.customer.name);
  return (
    <Modal
      open={isOpen}
      onCancel={onClose}
      closable={false}
      mask={{ closable: status !== 'pending' }}
      keyboard={status !== 'pending'}
      width={448}
      centered
      destroyOnHidden
      title={title}
      footer={null}
      afterOpenChange={(open) => {
        if (open) cancel.current?.focus();
      }}
    >
      <p className={classes.text}>{text}</p>
      {status === 'idle' ? (
        <>
          <dl className={classes.details}>
            <div>
              <dt>Amount</dt>
              <dd className={classes.large}>{amount}</dd>
            </div>
            <div>
              <dt>Phone Number</dt>
              <dd className={classes.large}>{groupDigits(localPhone(loan.customer.phoneNumber))}</dd>
            </div>
            <div>
              <dt>Transaction Type</dt>
              <dd>Disbursement</dd>
            </div>
          </dl>
          <div className={classes.acts}>
            <Button ref={cancel} onClick={onClose}>
              Cancel
            </Button>
            <Button type="primary" onClick={pay}>
              Confirm Disbursement
            </Button>
          </div>
        </>
      ) : null}
      {status === 'pending' ? (
        <div className={classes.processing}>
          <Spinner label="Processing transaction with the mobile-money service..." isLabelShown />
          <p>This may take a few moments</p>
        </div>
      ) : null}
      {status === 'success' ? (
        <Note tone="good" title="Success!">
          <p>The funds have been sent successfully.</p>
          <p>{`Transaction ID: ${payout.data.mpesa_ref ?? 'Pending...'}`}</p>
        </Note>
      ) : null}
      {status === 'error' ? (
        <>
          <Note tone="bad" title="Error">
            {payout.error.message || 'Disbursement failed. Please try again.'}
          </Note>
          <div className={classes.acts}>
            <Button onClick={onClose}>Close</Button>
            <Button type="primary" onClick={pay}>
              Try Again
            </Button>
          </div>
        </>
      ) : null}
    </Modal>
  );
}

const WORDS = {
  idle: (amount: string, customer: string) => ({
    title: 'Confirm Loan Disbursement',
    text: `You are about to disburse ${amount} to ${customer} via the mobile-money service.`,
  }),
  pending: () => ({ title: 'Processing Disbursement', text: 'Please wait while we process your request...' }),
  success: (amount: string, customer: string) => ({
    title: 'Disbursement Successful',
    text: `Successfully disbursed ${amount} to ${customer}.`,
  }),
  error: () => ({ title: 'Disbursement Failed', text: 'There was an issue processing the disbursement.' }),
};
