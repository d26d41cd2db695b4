import { useSession } from 'mfe-kit';
import { useState } from 'react';
import { Navigate } from 'react-router';
import { Gate } from '../gate/Gate';
import { useGateState } from '../gate/gate-state';
import { CodeForm } from './CodeForm';
import { PasswordForm } from './PasswordForm';
import { useExpiredMessage } from './useExpiredMessage';

/** Sign-in: by password, or by password and a code. */
export default function LoginPage() {
  const { status } = useSession();
  const { from, email = '' } = useGateState();
  const [credentials, setCredentials] = useState({ email, password: '' });
  const [isCodeSent, setCodeSent] = useState(false);
  useExpiredMessage();

  // The page that was wanted, else the dashboard.
  if (status === 'signed-in') return <Navigate to={from ?? '/dashboard'} state={from?.state} replace />;

  if (isCodeSent)
    return (
      <Gate title="Enter Verification Code" subtitle={`We sent a 6-digit code to ${credentials.email}.`}>
        <CodeForm credentials={credentials} onBack={() => setCodeSent(false)} />
      </Gate>
    );
  return (
    <Gate title="Sign in" subtitle="Pay out approved loans.">
      <PasswordForm
        credentials={credentials}
        onChange={(change) => setCredentials((before) => ({ ...before, ...change }))}
        onCodeSent={() => setCodeSent(true)}
      />
    </Gate>
  );
}
