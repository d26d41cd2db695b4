import { useSession } from 'mfe-kit';
import { useState } from 'react';
import { Navigate } from 'react-router';
import { signInTexts } from '../sign-in-texts';
import { SignedOutLayout } from '../signed-out/SignedOutLayout';
import { useCodeStep, useSignInState } from '../signed-out/navigation-state';
import { CodeForm } from './CodeForm';
import { PasswordForm } from './PasswordForm';
import type { Credentials } from './sign-in';
import { useExpiredMessage } from './useExpiredMessage';

export default function LoginPage() {
  const { status } = useSession();
  const { from } = useSignInState();
  // The page that the user opened first, else the dashboard.
  if (status === 'signed-in') return <Navigate to={from ?? '/dashboard'} state={from?.state} replace />;
  return <SignIn />;
}

/** Sign-in by password, or by password and a one-time code. */
function SignIn() {
  const texts = signInTexts();
  const { email = '' } = useSignInState();
  const [credentials, setCredentials] = useState({ email, password: '' });
  const [isCodeSent, setCodeSent] = useCodeStep(credentials.email);
  useExpiredMessage();

  const change = (given: Partial<Credentials>) => setCredentials((before) => ({ ...before, ...given }));

  if (isCodeSent)
    return (
      <SignedOutLayout title={texts.enterCode} subtitle={texts.codeSentTo(credentials.email)}>
        <CodeForm
          credentials={credentials}
          onPasswordChange={(password) => change({ password })}
          onBack={() => setCodeSent(false)}
        />
      </SignedOutLayout>
    );
  return (
    <SignedOutLayout title={texts.signIn} subtitle={texts.signInText}>
      <PasswordForm credentials={credentials} onChange={change} onCodeSent={() => setCodeSent(true)} />
    </SignedOutLayout>
  );
}
