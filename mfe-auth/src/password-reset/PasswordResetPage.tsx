import { Icon } from 'mfe-kit/ui';
import { useState } from 'react';
import { Link } from 'react-router';
import classes from '../signed-out/form.module.css';
import { SignedOutLayout } from '../signed-out/SignedOutLayout';
import { useSignInState } from '../signed-out/navigation-state';
import { EmailStep } from './EmailStep';
import { ResetStep } from './ResetStep';

const TITLE = 'Reset your password';

/** Resets a forgotten password: the first step sends a code, the second uses it. */
export default function PasswordResetPage() {
  const { from, email: known = '' } = useSignInState();
  const [email, setEmail] = useState(known);
  const [isCodeSent, setCodeSent] = useState(false);

  const backToLogin = (
    <Link to="/login" state={{ from, email }} className={classes.leave}>
      <Icon name="back" />
      Back to Login
    </Link>
  );

  if (isCodeSent)
    return (
      <SignedOutLayout title={TITLE} subtitle={`We sent a verification code to the phone tied to ${email}.`}>
        <ResetStep email={email} onBack={() => setCodeSent(false)} />
        {backToLogin}
      </SignedOutLayout>
    );
  return (
    <SignedOutLayout
      title="Enter your email"
      windowTitle={TITLE}
      subtitle="We will send a verification code to your phone."
    >
      <EmailStep email={email} onChange={setEmail} onCodeSent={() => setCodeSent(true)} />
      {backToLogin}
    </SignedOutLayout>
  );
}
