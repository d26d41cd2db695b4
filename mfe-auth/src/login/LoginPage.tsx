import { useMutation } from '@tanstack/react-query';
import { notify, portalSettings, session, useSession } from 'mfe-kit';
import { Button, Checkbox, Field, Input } from 'mfe-kit/ui';
import { useEffect, useState } from 'react';
import { Link, type Location, Navigate, useLocation, useSearchParams } from 'react-router';
import { Gate } from '../gate/Gate';
import classes from './LoginPage.module.css';
import { signInByPassword, signInFailure } from './sign-in';

/** Sign-in by password. */
export default function LoginPage() {
  const { status } = useSession();
  const location = useLocation();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  useExpiredMessage();

  const signIn = useMutation({
    mutationFn: () => signInByPassword(email, password),
    onSuccess: () =>
      notify({ type: 'success', message: `Login successful! Welcome back to ${portalSettings().product}!` }),
    onError: (error) => notify({ type: 'error', message: signInFailure(error) }),
  });

  // The page that the guard sent here from, else the dashboard.
  if (status === 'signed-in') {
    const from = (location.state as { from?: Location<unknown> } | null)?.from;
    return <Navigate to={from ?? '/dashboard'} state={from?.state} replace />;
  }

  const isPending = signIn.isPending;
  return (
    <Gate title="Sign in" subtitle="Pay out approved loans.">
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          signIn.mutate();
        }}
      >
        <Field label="Email">
          {(control) => (
            <Input
              {...control}
              size="large"
              type="email"
              name="email"
              autoComplete="username"
              required
              disabled={isPending}
              value={email}
              onChange={({ target }) => setEmail(target.value)}
            />
          )}
        </Field>
        <Field label="Password">
          {(control) => (
            <Input
              {...control}
              size="large"
              type="password"
              name="password"
              autoComplete="current-password"
              required
              disabled={isPending}
              value={password}
              onChange={({ target }) => setPassword(target.value)}
            />
          )}
        </Field>
        <div className={classes.line}>
          <Checkbox disabled={isPending}>Remember me</Checkbox>
          <Link to="/password-reset">Forgot password?</Link>
        </div>
        <Button type="primary" size="large" block htmlType="submit" disabled={isPending}>
          {isPending ? 'Signing in...' : 'Sign in'}
        </Button>
      </form>
    </Gate>
  );
}

/** Says why the browser was sent here, once: the mark leaves the address (REQ-080, REQ-081). */
function useExpiredMessage() {
  const [search, setSearch] = useSearchParams();
  const hasExpired = search.get('sessionExpired') === 'true';
  useEffect(() => {
    if (!hasExpired) return;
    notify({
      type: 'info',
      message: 'Your session expired. Please log in again.',
      key: session.expiredToastKey,
    });
    setSearch(
      (before) => {
        before.delete('sessionExpired');
        return before;
      },
      { replace: true },
    );
  }, [hasExpired, setSearch]);
}
