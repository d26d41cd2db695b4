import { failureText, formatMoney, groupDigits, localPhone } from 'mfe-kit';
import { Button, Note, Spinner } from 'mfe-kit/ui';
import { Modal } from 'mfe-kit/ui-data';
import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';
import { failures } from '../failures';
import { type Loan, namedCustomer } from '../loan/loan';
import { loansTexts, type LoansTexts } from '../loans-texts';
import classes from './DisburseDialog.module.css';
import { Refusal } from './Refusal';
import type { Disbursing } from './useDisburse';

const AUTO_CLOSE_MS = 2500;

/** Who acts on a failure earlier than this has not read it. */
const UNREAD_MS = 700;

interface DisburseDialogProps {
  loan: Loan;
  isOpen: boolean;
  disbursing: Disbursing;
  /** `true` while the provider can't be reached. */
  isOffline: boolean;
  maximum: number | null;
  onClose: () => void;
  /** Called when the dialog is closed and focus is restored, if the element that had it still exists. */
  onClosed: () => void;
}

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
  useLayoutEffect(() => {
    if (!isOpen) return;
    if (status === 'idle') cancel.current?.focus();
    else (tryAgain.current ?? description.current)?.focus();
  }, [status, isOpen]);

  // A failure may come at once, and 'Try Again' is where 'Confirm Disbursement' was: the second press of a double one
  // neither pays again nor closes the dialog.
  const [isRead, setRead] = useState(false);
  useLayoutEffect(() => {
    if (status !== 'error' || !isOpen) return;
    const timer = setTimeout(setRead, UNREAD_MS, true);
    return () => {
      clearTimeout(timer);
      setRead(false);
    };
  }, [status, isOpen]);
  const isUnread = status === 'error' && !isRead;

  const texts = loansTexts();
  const { title, text } = wordsFor(status, texts, amount, namedCustomer(loan));
  return (
    <Modal
      open={isOpen}
      onCancel={onClose}
      closable={false}
      mask={{ closable: status !== 'pending' && !isUnread }}
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
              <dt>{texts.amount}</dt>
              <dd className={classes.large}>{amount}</dd>
            </div>
            <div>
              <dt>{texts.phoneNumber}</dt>
              <dd className={classes.large}>{groupDigits(localPhone(loan.customer.phoneNumber))}</dd>
            </div>
            <div>
              <dt>{texts.transactionType}</dt>
              <dd>{texts.disbursement}</dd>
            </div>
          </dl>
          {maximum === null ? null : (
            <div className={classes.result}>
              <Note tone="wait" title={texts.aboveMaximum}>
                <p>{texts.maximumIs(formatMoney(maximum))}</p>
              </Note>
            </div>
          )}
          <div className={`actions ${classes.actions}`}>
            <Button ref={cancel} onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="primary" disabled={isOffline || maximum !== null} onClick={pay}>
              {texts.confirm}
            </Button>
          </div>
        </>
      ) : null}
      {status === 'pending' ? (
        <div className={classes.processing}>
          <Spinner label={texts.processingTransaction} />
          <p>{texts.mayTakeMoments}</p>
        </div>
      ) : null}
      {status === 'submitted' ? (
        <div className={classes.result}>
          <Note tone="wait" title={texts.transactionId(texts.pending)} />
        </div>
      ) : null}
      {status === 'success' ? (
        <div className={classes.result}>
          <Note tone="good" title={texts.success}>
            <p>{texts.fundsSent}</p>
            <p>{texts.transactionId(payout?.reference ?? texts.pending)}</p>
          </Note>
        </div>
      ) : null}
      {status === 'error' ? (
        <>
          <div className={classes.result}>
            <Note tone="bad" title={texts.error} error={error}>
              <Refusal text={error ? failureText(failures().payout, error) : (payout?.errorMessage ?? '')} />
            </Note>
          </div>
          <div className={`actions ${classes.actions}`}>
            <Button onClick={onClose}>{texts.close}</Button>
            <Button
              ref={tryAgain}
              type="primary"
              disabled={isOffline}
              // Tests that click it wait until it can be hit, as they do for every button.
              style={isUnread ? { pointerEvents: 'none' } : undefined}
              onClick={isUnread ? undefined : pay}
            >
              {texts.tryAgain}
            </Button>
          </div>
        </>
      ) : null}
    </Modal>
  );
}

function wordsFor(status: Disbursing['status'], texts: LoansTexts, amount: string, customer: string) {
  switch (status) {
    case 'idle':
      return { title: texts.confirmTitle, text: texts.confirmText(amount, customer) };
    case 'pending':
      return { title: texts.processingTitle, text: texts.processingText };
    case 'submitted':
      return { title: texts.submittedTitle, text: texts.submittedText };
    case 'success':
      return { title: texts.successful, text: texts.successText(amount, customer) };
    case 'error':
      return { title: texts.disbursementFailed, text: texts.payoutIssue };
  }
}
