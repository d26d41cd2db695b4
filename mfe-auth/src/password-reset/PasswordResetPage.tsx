import { Icon } from 'mfe-kit/ui';
import { useState } from 'react';
import { Link } from 'react-router';
import classes from '../gate/form.module.css';
import { Gate } from '../gate/Gate';
import { useGateState } from '../gate/gate-state';
import { EmailStep } from './EmailStep';
import { ResetStep } from './ResetStep';

/** A new password for one that was forgotten: first a code is sent, then it is used. */
export default function PasswordResetPage() {
  const { from, email: known = '' } = useGateState();
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
      <Gate
        title="Reset your password"
        subtitle={`We sent a verification code to the phone tied to ${email}.`}
      >
        <ResetStep email={email} onBack={() => setCodeSent(false)} />
        {backToLogin}
      </Gate>
    );
  return (
    <Gate title="Enter your email" subtitle="We will send a verification code to your phone.">
      <EmailStep email={email} onChange={setEmail} onCodeSent={() => setCodeSent(true)} />
      {backToLogin}
    </Gate>
  );
}
