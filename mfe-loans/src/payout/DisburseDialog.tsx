import { failureText, formatMoney, groupDigits, localPhone } from 'mfe-kit';
import { Button, Note, Spinner } from 'mfe-kit/ui';
import { Modal } from 'mfe-kit/ui-data';
import { useEffect, useEffectEvent, useRef } from 'react';
import { FAILURES } from '../failures';
import type { Loan } from '../loan/loan';
import type { Disbursing } from './disburse';
import classes from './DisburseDialog.module.css';

const AUTO_CLOSE_MS = 2500;

interface DisburseDialogProps {
  loan: Loan;
  isOpen: boolean;
  disbursing: Disbursing;
  /** Whether the provider can't be reached at the moment. */
  isOffline: boolean;
  /** The highest amount that may be paid out, if the loan's is above it. */
  maximum: number | null;
  onClose: () => void;
  /** Called when the dialog is closed and focus is restored, if the element that had it still exists. */
  onClosed: () => void;
}

/** Confirms the payout, shows that it is being processed, and shows the result. */
export function DisburseDialog({
  loan,
  isOpen,
  disbursing,
  isOffline,
  maximum,
  onClose,
  onClosed,
}: DisburseDialogProps) {
  const { status, payout, error, pay } = disbursing;
  const description = useRef<HTMLParagraphElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const tryAgain = useRef<HTMLButtonElement>(null);
  const amount = formatMoney(loan.amount);

  const close = useEffectEvent(onClose);
  useEffect(() => {
    if ((status !== 'success' && status !== 'submitted') || !isOpen) return;
    const timer = setTimeout(close, AUTO_CLOSE_MS);
    return () => clearTimeout(timer);
  }, [status, isOpen]);

  // The focused element disappears with its state; without this, focus would leave the dialog.
  useEffect(() => {
    if (!isOpen) return;
    if (status === 'idle') cancel.current?.focus();
    else (tryAgain.current ?? description.current)?.focus();
  }, [status, isOpen]);

  const { title, text } = TEXTS[status](amount, loan.customer.name);
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
        // Unless the user has moved focus to another button while the dialog was fading in.
        if (open && !document.activeElement?.closest('[role="dialog"] button')) cancel.current?.focus();
      }}
      afterClose={onClosed}
    >
      <p ref={description} tabIndex={-1} className={classes.text}>
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
          {maximum === null ? null : (
            <div className={classes.result}>
              <Note tone="wait" title="Above the maximum amount">
                <p>{`A payout may have at most ${formatMoney(maximum)}. An admin can change this in the settings.`}</p>
              </Note>
            </div>
          )}
          <div className={classes.actions}>
            <Button ref={cancel} onClick={onClose}>
              Cancel
            </Button>
            <Button type="primary" disabled={isOffline || maximum !== null} onClick={pay}>
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
      {status === 'submitted' ? (
        <div className={classes.result}>
          <Note tone="wait" title="Transaction ID: Pending..." />
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
              <p>{error ? failureText(FAILURES.payout, error) : payout?.errorMessage}</p>
            </Note>
          </div>
          <div className={classes.actions}>
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

const TEXTS = {
  idle: (amount: string, customer: string) => ({
    title: 'Confirm Loan Disbursement',
    text: `You are about to disburse ${amount} to ${customer} via the mobile-money service.`,
  }),
  pending: () => ({ title: 'Processing Disbursement', text: 'Please wait while we process your request...' }),
  submitted: () => ({
    title: 'Disbursement Submitted',
    text: 'The mobile-money service has not confirmed the payout yet. The result shows on this page as soon as it is known.',
  }),
  success: (amount: string, customer: string) => ({
    title: 'Disbursement Successful',
    text: `Successfully disbursed ${amount} to ${customer}.`,
  }),
  error: () => ({ title: 'Disbursement Failed', text: 'There was an issue processing the disbursement.' }),
};
