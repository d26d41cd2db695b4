import { notify } from 'mfe-kit';
import { Button, Icon } from 'mfe-kit/ui';
import { signInTexts } from '../sign-in-texts';
import classes from './form.module.css';
import { SIGN_IN_TOAST } from './toast';

interface CodeActionsProps {
  back: string;
  backMessage: string;
  isDisabled: boolean;
  isSending: boolean;
  onBack: () => void;
  onResend: () => void;
}

/** The actions under a form that asks for a one-time code: go back, or request another code. */
export function CodeActions({
  back,
  backMessage,
  isDisabled,
  isSending,
  onBack,
  onResend,
}: CodeActionsProps) {
  const texts = signInTexts();
  return (
    <div className={classes.codeActions}>
      <Button
        type="link"
        icon={<Icon name="back" />}
        disabled={isDisabled}
        onClick={() => {
          notify({ type: 'info', message: backMessage, key: SIGN_IN_TOAST });
          onBack();
        }}
      >
        {back}
      </Button>
      <Button type="link" disabled={isDisabled} onClick={onResend}>
        {isSending ? texts.sending : texts.resend}
      </Button>
    </div>
  );
}
