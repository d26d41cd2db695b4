import { Button } from 'mfe-kit/ui';
import { type SubmitEvent, useState } from 'react';
import { EmailField } from '../fields/EmailField';
import { signInTexts } from '../sign-in-texts';
import classes from '../signed-out/form.module.css';
import { useCodeRequest } from '../signed-out/useCodeRequest';
import { useKeptFocus } from '../signed-out/useKeptFocus';
import { fieldAtFault } from '../login/sign-in';
import { resetCodeRequest } from './reset';

interface EmailStepProps {
  email: string;
  onChange: (email: string) => void;
  onCodeSent: () => void;
}

export function EmailStep({ email, onChange, onCodeSent }: EmailStepProps) {
  const texts = signInTexts();
  const [wrong, setWrong] = useState<string>();

  const request = useCodeRequest(resetCodeRequest(email), {
    onSent: onCodeSent,
    onFailed: (error) => setWrong(fieldAtFault(error)?.text),
  });
  const form = useKeptFocus(request.isPending, wrong);

  function submit() {
    setWrong(email.trim() ? undefined : texts.pleaseEnterEmail);
    if (email.trim()) request.mutate();
  }

  return (
    <form
      ref={form}
      className={classes.form}
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault();
        submit();
      }}
    >
      <EmailField
        autoFocus
        value={email}
        error={wrong}
        disabled={request.isPending}
        onChange={(typed) => {
          setWrong(undefined);
          onChange(typed);
        }}
      />
      <Button type="primary" size="large" block htmlType="submit" disabled={request.isPending || !email}>
        {request.isPending ? texts.sendingResetCodeNow : texts.sendResetCode}
      </Button>
    </form>
  );
}
