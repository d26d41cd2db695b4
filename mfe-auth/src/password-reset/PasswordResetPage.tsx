import { Icon } from 'mfe-kit/ui';
import { useState } from 'react';
import { Link } from 'react-router';
import { signInTexts } from '../sign-in-texts';
import classes from '../signed-out/form.module.css';
import { SignedOutLayout } from '../signed-out/SignedOutLayout';
import { useCodeStep, useSignInState } from '../signed-out/navigation-state';
import { EmailStep } from './EmailStep';
import { ResetStep } from './ResetStep';

/** Resets a forgotten password: the first step sends a code, the second uses it. */
export default function PasswordResetPage() {
  const { from, email: known = '' } = useSignInState();
  const texts = signInTexts();
  const [email, setEmail] = useState(known);
  const [isCodeSent, setCodeSent] = useCodeStep(email);

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
