import { useMutation, useQuery } from '@tanstack/react-query';
import { formatDateTime, notify, queryClient, type Schema, storage } from 'mfe-kit';
import { Button, Icon, Note, Unseen } from 'mfe-kit/ui';
import { type ComponentProps, type ReactNode, useEffect, useId, useState } from 'react';
import { useNavigate } from 'react-router';
import { storyHeight } from '../layout/told-height';
import { passOnTo } from '../navigation/pass-on';
import { Address, Addresses } from './Addresses';
import { AgainDialog } from './AgainDialog';
import { beginAgain } from './open-session';
import { StoryBoundary } from './StoryBoundary';
import classes from './StoryCard.module.css';
import { storyFailure } from './story-failure';
import { goOn, isGone, keep, storyQuery, take } from './story-query';
import { StorySteps } from './StorySteps';
import { storyTexts } from './story-texts';
import { useStepsDone } from './useStepsDone';

/** The key in the browser's storage of whether the card is folded. */
const FOLDED = 'story_folded';

/** The card's heading gets the focus of a button that goes. */
const passOn = passOnTo((button) => button.closest('section')?.querySelector('h2'));

/** The story that this sandbox tells, beside its screens. */
export default function StoryCard(): ReactNode {
  return (
    <StoryBoundary>
      <Told />
    </StoryBoundary>
  );
}

function Told() {
  const navigate = useNavigate();
  const texts = storyTexts();
  const again = useMutation({
    mutationFn: beginAgain,
    onSuccess: () => {
      notify({ type: 'success', message: texts.begunAgain });
      return navigate('/');
    },
  });
  const { data: told, isError, error } = useQuery({ ...storyQuery(), enabled: !again.isPending });
  if (isGone(error)) return <Notice sentence={texts.gone} />;
  if (told) return <Card told={told} isOutdated={isError} again={again} />;
  // It was not read even once, or this sandbox tells none any more.
  return isError ? <Notice sentence={texts.notRead} /> : null;
}

function Notice({ sentence }: { sentence: string }) {
  return (
    <p className={`raised ${classes.card} ${classes.failure}`} role="status" ref={storyHeight}>
      {sentence}
    </p>
  );
}

interface CardProps {
  told: Schema<'GuestStory'>;
  /** `true` if the last attempt to read it failed. */
  isOutdated: boolean;
  again: ComponentProps<typeof AgainDialog>['again'];
}

function Card({ told, isOutdated, again }: CardProps) {
  const { story, may_go_on, ends_at, may_keep, own_url, invitations } = told;
  const texts = storyTexts();
  const [isFolded, setFolded] = useState(() => storage.get(FOLDED) === 'true');
  const [isAsking, setAsking] = useState(false);
  const id = useId();
  const stepsDone = useStepsDone(story);
  // Changes that others make in this sandbox are on the screens at once, too.
  useEffect(() => {
    if (stepsDone) void queryClient.invalidateQueries();
  }, [stepsDone]);

  const at = story.steps.findIndex(({ state }) => state === 'next');
  const next = useMutation({ mutationFn: () => goOn(at) });
  const keeping = useMutation({
    mutationFn: keep,
    onSuccess: () => notify({ type: 'success', message: texts.kept }),
  });
  const taking = useMutation({ mutationFn: () => take(story.name) });
  const failures = [
    { title: texts.notDone, mutation: next },
    { title: texts.notKept, mutation: keeping },
    { title: texts.notTaken, mutation: taking },
  ].filter(({ mutation }) => mutation.isError);

  function fold(isFolding: boolean) {
    setFolded(isFolding);
    storage.set(FOLDED, String(isFolding));
  }

  function act(mutation: typeof next) {
    for (const failed of failures) failed.mutation.reset();
    mutation.mutate();
  }

  return (
    <section className={`raised ${classes.card}`} aria-label={texts.story} ref={storyHeight}>
      <button
        type="button"
        className={classes.toggle}
        aria-expanded={!isFolded}
        aria-controls={id}
        onClick={() => fold(!isFolded)}
      >
        {at < 0 ? texts.finished : texts.progress(at + 1, story.steps.length)}
        <Icon name="down" size={15} />
      </button>
      <div id={id} className={classes.body} hidden={isFolded}>
        <h2 tabIndex={-1}>{story.title}</h2>
        {story.text ? <p className="detail">{story.text}</p> : null}
        {isOutdated ? <p className={classes.failure}>{texts.notRead}</p> : null}
        <StorySteps
          steps={story.steps}
          act={
            may_go_on ? (
              <Button size="small" ref={passOn} loading={next.isPending} onClick={() => act(next)}>
                {texts.doIt}
              </Button>
            ) : null
          }
        />
        {failures.map(({ title, mutation }) => (
          <Note key={title} tone="bad" title={title}>
            <p>{storyFailure(mutation.error)}</p>
          </Note>
        ))}
        {ends_at ? <p className="detail">{texts.endsAt(formatDateTime(ends_at))}</p> : null}
        <div className={classes.acts}>
          {may_keep ? (
            <Button size="small" ref={passOn} loading={keeping.isPending} onClick={() => act(keeping)}>
              {texts.keep}
            </Button>
          ) : null}
          <Button
            size="small"
            icon={<Icon name="download" size={15} />}
            loading={taking.isPending}
            onClick={() => act(taking)}
          >
            {texts.take}
          </Button>
          <Button size="small" onClick={() => setAsking(true)}>
            {texts.startAgain}
          </Button>
        </div>
        {own_url ? (
          <Addresses title={texts.comeBack} text={texts.comeBackText}>
            <Address name={texts.yours} url={own_url} copy={texts.copyOwn} />
          </Addresses>
        ) : null}
        {invitations.length > 0 ? (
          <Addresses title={texts.invite} text={texts.inviteText}>
            {invitations.map(({ role, url }) => (
              <Address
                key={url}
                name={texts.roles[role]}
                url={url}
                copy={texts.copyAddress(texts.roles[role])}
              />
            ))}
          </Addresses>
        ) : null}
      </div>
      <Unseen role="status">{stepsDone}</Unseen>
      <AgainDialog isOpen={isAsking} again={again} onClose={() => setAsking(false)} />
    </section>
  );
}
