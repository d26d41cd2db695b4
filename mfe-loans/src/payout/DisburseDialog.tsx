import { failureText, formatMoney, groupDigits, localPhone } from 'mfe-kit';
import { Button, Note, Spinner } from 'mfe-kit/ui';
import { Modal } from 'mfe-kit/ui-data';
import { useEffect, useEffectEvent, useRef } from 'react';
import type { Loan } from '../loan/loan';
import type { Disbursing } from './disburse';
import classes from './DisburseDialog.module.css';

const CLOSED_AFTER_MS = 2500;

interface DisburseDialogProps {
  loan: Loan;
  isOpen: boolean;
  disbursing: Disbursing;
  /** Whether nothing can be asked of the provider just now. */
  isOffline: boolean;
  onClose: () => void;
  /** Called when the dialog has gone and focus is back where it was, if that is still there. */
  onClosed: () => void;
}

/** Asks before money moves, says that it moves, and says how it went. */
export function DisburseDialog({
  loan,
  isOpen,
  disbursing,
  isOffline,
  onClose,
  onClosed,
}: DisburseDialogProps) {
  const { status, payout, error, pay } = disbursing;
  const words = useRef<HTMLParagraphElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const tryAgain = useRef<HTMLButtonElement>(null);
  const amount = formatMoney(loan.amount);

  const close = useEffectEvent(onClose);
  useEffect(() => {
    if (status !== 'success' || !isOpen) return;
    const timer = setTimeout(close, CLOSED_AFTER_MS);
    return () => clearTimeout(timer);
  }, [status, isOpen]);

  // What had focus goes with the state that it belonged to; without this it would fall out of the dialog.
  useEffect(() => {
    if (!isOpen) return;
    if (status === 'idle') cancel.current?.focus();
    else (tryAgain.current ?? words.current)?.focus();
  }, [status, isOpen]);

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
      afterClose={onClosed}
    >
      <p ref={words} tabIndex={-1} className={classes.text}>
        {text}
      </p>
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
            <Button type="primary" disabled={isOffline} onClick={pay}>
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
        <div className={classes.result}>
          <Note tone="good" title="Success!">
            <p>The funds have been sent successfully.</p>
            <p>{`Transaction ID: ${payout?.reference ?? 'Pending...'}`}</p>
          </Note>
        </div>
      ) : null}
      {status === 'error' ? (
        <>
          <div className={classes.result}>
            <Note tone="bad" title="Error">
              <p>{error ? failureText('payout', error) : payout?.errorMessage}</p>
            </Note>
          </div>
          <div className={classes.acts}>
            <Button onClick={onClose}>Close</Button>
            <Button ref={tryAgain} type="primary" disabled={isOffline} onClick={pay}>
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
