import { useSession } from 'mfe-kit';
import { useState } from 'react';
import { Navigate } from 'react-router';
import { SignedOutLayout } from '../signed-out/SignedOutLayout';
import { useSignInState } from '../signed-out/navigation-state';
import { CodeForm } from './CodeForm';
import { PasswordForm } from './PasswordForm';
import { useExpiredMessage } from './useExpiredMessage';

/** Sign-in by password, or by password and a one-time code. */
export default function LoginPage() {
  const { status } = useSession();
  const { from, email = '' } = useSignInState();
  const [credentials, setCredentials] = useState({ email, password: '' });
  const [isCodeSent, setCodeSent] = useState(false);
  useExpiredMessage();

  // The page that the user opened first, else the dashboard.
  if (status === 'signed-in') return <Navigate to={from ?? '/dashboard'} state={from?.state} replace />;

  if (isCodeSent)
    return (
      <SignedOutLayout
        title="Enter Verification Code"
        subtitle={`We sent a 6-digit code to ${credentials.email}.`}
      >
        <CodeForm credentials={credentials} onBack={() => setCodeSent(false)} />
      </SignedOutLayout>
    );
  return (
    <SignedOutLayout title="Sign in" subtitle="Pay out approved loans.">
      <PasswordForm
        credentials={credentials}
        onChange={(change) => setCredentials((before) => ({ ...before, ...change }))}
        onCodeSent={() => setCodeSent(true)}
      />
    </SignedOutLayout>
  );
}
