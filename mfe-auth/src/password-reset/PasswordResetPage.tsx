import { Icon } from 'mfe-kit/ui';
import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { signInTexts } from '../sign-in-texts';
import classes from '../signed-out/form.module.css';
import { SignedOutLayout } from '../signed-out/SignedOutLayout';
import { useSignInState } from '../signed-out/navigation-state';
import { EmailStep } from './EmailStep';
import { ResetStep } from './ResetStep';

/** Resets a forgotten password: the first step sends a code, the second uses it. */
export default function PasswordResetPage() {
  const { from, email: known = '', isCodeSent = false } = useSignInState();
  const navigate = useNavigate();
  const texts = signInTexts();
  const [email, setEmail] = useState(known);
  // In navigation state, as a phone may load the page again when its user comes back with the code.
  const setCodeSent = (isCodeSent: boolean) =>
    void navigate('.', { replace: true, state: { from, email, isCodeSent } });

  const backToLogin = (
    <Link to="/login" state={{ from, email }} className={classes.leave}>
      <Icon name="back" />
      {texts.backToLogin}
    </Link>
  );

  if (isCodeSent)
    return (
      <SignedOutLayout title={texts.resetTitle} subtitle={texts.resetCodeSentTo(email)}>
        <ResetStep email={email} onBack={() => setCodeSent(false)} />
        {backToLogin}
      </SignedOutLayout>
    );
  return (
    <SignedOutLayout title={texts.enterEmail} windowTitle={texts.resetTitle} subtitle={texts.resetText}>
      <EmailStep email={email} onChange={setEmail} onCodeSent={() => setCodeSent(true)} />
      {backToLogin}
    </SignedOutLayout>
  );
}
