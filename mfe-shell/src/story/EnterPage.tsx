import { useMutation } from '@tanstack/react-query';
import { ApiError, tabTitle } from 'mfe-kit';
import { Button, LoadingState, PageHeader } from 'mfe-kit/ui';
import { type ReactNode, useEffect, useState } from 'react';
import { Link, useLocation, useNavigate } from 'react-router';
import frame from '../layout/PublicFrame.module.css';
import { useScreenDrawn } from '../navigation/useScreenDrawn';
import { useWords } from '../navigation/useWords';
import classes from './EnterPage.module.css';
import { enterSandbox } from './open-session';
import { storyFailure } from './story-failure';
import { storyTexts } from './story-texts';

/** Signs in with the code that is the fragment of the address, which browsers send to no server. */
export default function EnterPage() {
  useWords();
  const code = useLocation().hash.slice(1);
  return (
    <main className={frame.middle}>
      {code ? <Entering key={code} code={code} /> : <NotOpened sentence={storyTexts().noEntry} />}
    </main>
  );
}

function Entering({ code }: { code: string }) {
  const navigate = useNavigate();
  const texts = storyTexts();
  // Stays while it is tried again, so that the button keeps the focus.
  const [failure, setFailure] = useState<unknown>();
  const { mutate, isPending } = useMutation({
    mutationFn: () => enterSandbox(code),
    meta: { act: 'sign in' },
    // The code does not stay in the history.
    onSuccess: () => navigate('/', { replace: true }),
    onError: setFailure,
  });
  useEffect(() => mutate(), [mutate]);

  if (failure === undefined)
    return (
      <>
        <title>{tabTitle(texts.opening)}</title>
        <LoadingState label={texts.opening} />
      </>
    );
  const isWorthAnother = !(failure instanceof ApiError) || failure.isOutcomeUnknown;
  return (
    <NotOpened sentence={storyFailure(failure)}>
      {isWorthAnother ? (
        <Button type="primary" loading={isPending} onClick={() => mutate()}>
          {texts.tryAgain}
        </Button>
      ) : null}
    </NotOpened>
  );
}

function NotOpened({ sentence, children }: { sentence: string; children?: ReactNode }) {
  const texts = storyTexts();
  useScreenDrawn(sentence);
  return (
    <>
      <PageHeader title={texts.notOpened} subtitle={<span role="alert">{sentence}</span>} />
      <div className={`links ${classes.acts}`}>
        {children}
        <Link to="/login">{texts.signIn}</Link>
      </div>
    </>
  );
}
